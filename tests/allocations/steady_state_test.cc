// Once training is under way, a step asks the allocator for nothing: loading, averaging, updating,
// the ledger, companions. (Networks are libtorch's matter, which keeps memory of its own.)
#include <gtest/gtest.h>

#include <numeric>

#include "lockstep/train/batch_supply.h"
#include "lockstep/transport/world.h"
#include "tests/allocations/counting_new.h"
#include "tests/quadratic_model.h"
#include "tests/training.h"

namespace lockstep {
namespace {

// Several layers, large enough for messages that are not copied, and no memory of its own.
class SteadyReplica : public Replica {
 public:
  SteadyReplica()
      : params_(std::make_shared<AlignedVector<float>>(kLayers * kLayer, 1)),
        grads_(params_->size()) {
    for (std::size_t i = 0; i < kLayers; ++i) {
      layers_.push_back(
          {"layer" + std::to_string(i), i * kLayer, kLayer, {100, 50}, LayerKind::kWeight});
    }
  }
  PassResult forward_backward(const Batch& batch, float weight,
                              const LayerReady& on_layer) override {
    for (std::size_t i = kLayers; i-- > 0;) {
      for (std::size_t j = 0; j < kLayer; ++j) {
        const std::size_t at = i * kLayer + j;
        grads_[at] = weight * ((*params_)[at] - static_cast<float>((at + batch.ids[0]) % 7));
      }
      if (on_layer) on_layer(i);
    }
    return {1.0, batch.size(), 0};
  }
  PassResult evaluate(const Batch& batch) override { return {1.0, batch.size(), 0}; }
  std::span<float> params() override { return *params_; }
  SharedParameters shared_params() override { return params_; }
  void use_params(SharedParameters params) override { params_ = std::move(params); }
  std::span<float> grads() override { return grads_; }
  std::span<float> buffers() override { return {}; }
  std::span<const Layer> layers() const override { return layers_; }
  double modelled_seconds() const override { return 1e-4; }
  void save(const std::string&) override {}

 private:
  static constexpr std::size_t kLayers = 4, kLayer = 5000;
  std::vector<Layer> layers_;
  SharedParameters params_;
  AlignedVector<float> grads_;
};

class SteadyModel : public ModelKind {
 public:
  std::unique_ptr<Replica> make(const ModelSettings&) const override {
    return std::make_unique<SteadyReplica>();
  }
  bool mergeable() const override { return true; }
};

constexpr std::int64_t kWarm = 40, kCounted = 40;

// Allocations of all workers while the first takes kCounted steps.
std::int64_t allocations_of(const Settings& settings, int workers) {
  Config config;
  config.set({"model.name=fake", "train.local_batch=4", "train.epochs=1", "data.validation=0",
              "cluster.merge=1", "optim.lr=0.01", "cluster.workers=" + std::to_string(workers)});
  config.set(settings);
  const std::size_t samples = static_cast<std::size_t>(workers) * 4 * (kWarm + kCounted + 40);
  const Job job(config, {numbered_samples(samples), std::make_shared<SteadyModel>()}, 0);
  std::int64_t count = -1;
  auto world = Registry<World>::instance().make("threads");
  world->run(workers, [&](Transport& transport) {
    Learner learner(transport, job);
    learner.start();
    BatchSupply supply(transport, job, 0, 0);
    for (std::int64_t own = 0; own < job.plan().steps(); ++own) {
      if (transport.rank() == 0 && own == kWarm) start_counting_allocations();
      if (transport.rank() == 0 && own == kWarm + kCounted) count = stop_counting_allocations();
      const Turn turn = learner.next(own, job.plan().steps());
      const double began = transport.now();
      Batch& batch = supply.take(turn, own);
      learner.loaded(own, began, transport.now());
      learner.learn(turn.step, own, batch, own + 1 == job.plan().steps());
    }
    learner.finish(job.plan().steps());
  });
  return count;
}

void expect_none(const Settings& settings, int workers) {
  const std::int64_t count = allocations_of(settings, workers);
  EXPECT_EQ(count, 0) << ::testing::PrintToString(settings) << "\n" << allocating_places();
}

TEST(SteadyState, CountsWhatIsAllocated) {
  start_counting_allocations();
  const std::vector<int> numbers(100);
  EXPECT_GE(stop_counting_allocations(), 1) << numbers.size();
}

TEST(SteadyState, AllocatesNothingWithAnyAllReduce) {
  for (const auto& name : Registry<AllReduce>::instance().names()) {
    expect_none({"aggregate.algorithm=" + name}, 4);
  }
}

TEST(SteadyState, AllocatesNothingWithAnyOptimizer) {
  for (const auto& name : Registry<Optimizer>::instance().names()) {
    expect_none({"optim.name=" + name}, 2);
  }
}

TEST(SteadyState, AllocatesNothingBesideBackward) {
  for (const std::string name : {"wfbp", "fusion", "mg-wfbp"}) {
    expect_none({"overlap.name=" + name, "aggregate.algorithm=ring"}, 2);
  }
}

TEST(SteadyState, AllocatesNothingWithAnyCompressor) {
  for (const auto& name : Registry<Compressor>::instance().names()) {
    expect_none({"compress.name=" + name, "compress.plain_below=0"}, 4);
  }
}

TEST(SteadyState, AllocatesNothingWithLocalSteps) {
  expect_none({"sync.name=local", "sync.period=4"}, 4);
  expect_none({"sync.name=elastic"}, 4);
}

}  // namespace
}  // namespace lockstep
