// Training held to torch itself: what comes out of a run is what a plain loop with torch's own
// modules and optimizer gives.
#include "lockstep/model/user_module.h"
#include "lockstep/train/batch_source.h"
#include "lockstep/train/learner.h"
#include "lockstep/transport/world.h"
#include "tests/linear_model.h"

namespace lockstep {
namespace {

struct Net : torch::nn::Module {
  torch::nn::Linear hidden{register_module("hidden", torch::nn::Linear(2, 16))};
  torch::nn::Linear out{register_module("out", torch::nn::Linear(16, 3))};
  torch::Tensor forward(torch::Tensor x) { return out(torch::relu(hidden(x))); }
};

Config config_of(int workers, const std::string& model) {
  Config config;
  config.set({"model.name=" + model, "train.batch=24", "train.steps=50", "train.epochs=99",
              "data.validation=0", "cluster.workers=" + std::to_string(workers), "cluster.merge=1",
              "assign.shuffle=once", "optim.lr=0.1", "optim.momentum=0.9",
              "optim.weight_decay=1e-4"});
  return config;
}

// The parameters before and after, of the first rank.
struct Trained {
  std::vector<float> before, after;
};

Trained train(const Job& job) {
  Trained trained;
  Registry<World>::instance().make("threads")->run(job.placement().ranks(), [&](Transport& rank) {
    Learner learner(rank, job);
    const auto params = learner.replica().params();
    if (rank.rank() == 0) trained.before.assign(params.begin(), params.end());
    learner.start();
    BatchSource source(job, rank.rank());
    Batch batch;
    for (std::int64_t step = 0; step < job.plan().steps(); ++step) {
      source.fill(step, batch);
      learner.learn(step, step, batch, false);
    }
    if (rank.rank() == 0) trained.after.assign(params.begin(), params.end());
    learner.rest();
  });
  return trained;
}

TEST(TrainingAgainstTorch, OneWorkerIsAPlainSerialLoop) {
  const std::shared_ptr<const ModelKind> model =
      model_from([] { return std::make_shared<Net>(); }, {.mergeable = true});
  const Job job(config_of(1, "mlp"), {three_directions(103), model}, 0);
  const Trained trained = train(job);

  Net net;
  std::size_t offset = 0;
  {
    const torch::NoGradGuard guard;
    for (auto& parameter : net.parameters()) {
      const auto size = static_cast<std::size_t>(parameter.numel());
      std::copy_n(trained.before.begin() + static_cast<std::ptrdiff_t>(offset), size,
                  parameter.data_ptr<float>());
      offset += size;
    }
  }
  ASSERT_EQ(offset, trained.before.size());
  torch::optim::SGD optimizer(net.parameters(),
                              torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-4));
  BatchSource source(job, 0);
  Batch batch;
  for (std::int64_t step = 0; step < 50; ++step) {
    source.fill(step, batch);
    const auto samples = static_cast<std::int64_t>(batch.size());
    const auto x = torch::from_blob(batch.values.data(), {samples, 2}).clone();
    const auto y = torch::from_blob(batch.labels.data(), {samples}, torch::kLong).clone();
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(net.forward(x), y).backward();
    optimizer.step();
  }
  offset = 0;
  for (const auto& parameter : net.parameters()) {
    const float* values = parameter.data_ptr<float>();
    for (std::int64_t i = 0; i < parameter.numel(); ++i) {
      EXPECT_NEAR(trained.after[offset++], values[i], 1e-5);
    }
  }
}

// Images of noise whose brightness tells the class.
std::shared_ptr<const Dataset> noise(std::size_t samples) {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = "noise";
  dataset->shape = {DataShape::Kind::kImage, {1, 28, 28}, 2, 0};
  dataset->samples = dataset->first_test = samples;
  AlignedVector<std::uint8_t> values;
  for (std::size_t i = 0; i < samples; ++i) {
    Random random(3, "noise", 0, i);
    dataset->labels.push_back(static_cast<std::int64_t>(i % 2));
    for (int p = 0; p < 28 * 28; ++p) {
      values.push_back(static_cast<std::uint8_t>(random.below(i % 2 == 0 ? 128 : 255)));
    }
  }
  dataset->values = std::move(values);
  return dataset;
}

TEST(TrainingAgainstTorch, WorkersWithoutBatchNormAreOneWorker) {
  for (const char* model : {"mlp", "lenet"}) {
    Config one = config_of(1, model), three = config_of(3, model);
    for (Config* config : {&one, &three}) config->set({"optim.lr=0.01", "train.steps=20"});
    const auto alone = train(Job(one, {noise(50), {}}, 0));
    const auto together = train(Job(three, {noise(50), {}}, 0));
    ASSERT_EQ(alone.after.size(), together.after.size());
    EXPECT_EQ(alone.before, together.before);
    for (std::size_t i = 0; i < alone.after.size(); ++i) {
      ASSERT_NEAR(alone.after[i], together.after[i], 2e-5) << model << " " << i;
    }
  }
}

TEST(TrainingAgainstTorch, WorkersThatShareBatchNormAreOneWorker) {
  Config one = config_of(1, "resnet"), three = config_of(3, "resnet");
  for (Config* config : {&one, &three}) {
    config->set({"model.depth=8", "optim.lr=0.01", "train.steps=4"});
  }
  Config apart = three;
  three.set({"train.batch_norm=shared"});
  const auto alone = train(Job(one, {noise(50), {}}, 0));
  const auto together = train(Job(three, {noise(50), {}}, 0));
  const auto by_themselves = train(Job(apart, {noise(50), {}}, 0));
  double furthest = 0;
  for (std::size_t i = 0; i < alone.after.size(); ++i) {
    ASSERT_NEAR(alone.after[i], together.after[i], 1e-4) << i;
    furthest = std::max(furthest, std::abs(double(alone.after[i]) - by_themselves.after[i]));
  }
  EXPECT_GT(furthest, 1e-3) << "the test would not see the difference";
}

TEST(TrainingAgainstTorch, MergedWorkersKeepTheirOwnBatchNorm) {
  Config separate = config_of(4, "resnet"), merged = separate;
  for (Config* config : {&separate, &merged}) {
    config->set({"model.depth=8", "optim.lr=0.01", "train.steps=4"});
  }
  merged.set({"cluster.merge=2"});
  const auto apart = train(Job(separate, {noise(50), {}}, 0));
  const auto together = train(Job(merged, {noise(50), {}}, 0));
  for (std::size_t i = 0; i < apart.after.size(); ++i) {
    ASSERT_NEAR(apart.after[i], together.after[i], 1e-4) << i;
  }
}

}  // namespace
}  // namespace lockstep
