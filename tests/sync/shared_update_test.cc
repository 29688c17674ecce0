// Workers of one process that share their parameters compute what workers with copies compute.
#include "lockstep/sync/shared_update.h"

#include "lockstep/base/state_store.h"
#include "tests/linear_model.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

// The same model without the ability to share.
class PrivateReplica : public LinearReplica {
 public:
  using LinearReplica::LinearReplica;
  SharedParameters shared_params() override { return nullptr; }
};
class PrivateModel : public LinearModel {
 public:
  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    return std::make_unique<PrivateReplica>(settings);
  }
};

Job job_with(std::shared_ptr<const ModelKind> model, int count, const std::string& optimizer) {
  Config config;
  config.set({"model.name=fake", "train.local_batch=6", "train.epochs=4", "data.validation=0.1",
              "cluster.merge=1", "optim.name=" + optimizer, workers(count)});
  return Job(config, {three_directions(103), std::move(model)}, 0);
}

const std::vector<const char*> kOptimizers{"sgd", "adam", "lars", "lamb"};

TEST(SharedUpdate, ComputesTheBitsOfSeparateCopies) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : {2, 3, 4}) {
    for (const char* optimizer : kOptimizers) {
      const Job shared = job_with(std::make_shared<LinearModel>(), count, optimizer);
      const Job apart = job_with(std::make_shared<PrivateModel>(), count, optimizer);
      const auto all = train_all(*threads, shared);
      for (const auto& one : all) EXPECT_EQ(one, all.front());
      EXPECT_EQ(all.front(), train_all(*threads, apart).front()) << count << " " << optimizer;
    }
  }
}

TEST(SharedUpdate, HasOneCopyOfTheParametersOnThreadsAlone) {
  const int ranks = world_under_test_name() == "mpi" ? world_under_test()->most_ranks() : 3;
  const Job job = job_with(std::make_shared<LinearModel>(), ranks, "sgd");
  world_under_test()->run(ranks, [&](Transport& transport) {
    Learner learner(transport, job);
    const float* const before = learner.replica().params().data();
    learner.start();
    const bool moved = learner.replica().params().data() != before;
    EXPECT_EQ(moved, world_under_test_name() == "threads" && transport.rank() > 0);
    learner.rest();
  });
}

TEST(SharedUpdate, LeavesACompleteStateOnEveryRank) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const char* optimizer : kOptimizers) {
    const Job job = job_with(std::make_shared<LinearModel>(), 3, optimizer);
    const std::int64_t half = job.plan().steps() / 2;
    const Weights whole = train_all(*threads, job).front();
    threads->run(3, [&](Transport& transport) {
      std::unique_ptr<StateStore> saved;
      std::int64_t own = 0;
      {
        Learner learner(transport, job);
        BatchSource source(job, transport.rank());
        learner.start();
        train_until(learner, source, 0, half, own);
        learner.rest();
        saved = std::make_unique<StateStore>([&](StateVisitor& v) { learner.state(v); });
      }
      Learner learner(transport, job);
      BatchSource source(job, transport.rank());
      saved->restore([&](StateVisitor& v) { learner.state(v); });
      learner.start();
      train_until(learner, source, half, job.plan().steps(), own);
      const auto params = learner.replica().params();
      EXPECT_EQ(Weights(params.begin(), params.end()), whole) << optimizer;
      learner.rest();
    });
  }
}

}  // namespace
}  // namespace lockstep
