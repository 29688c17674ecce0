// The simulator's clock against the formula for pipelines.
#include <gtest/gtest.h>

#include "tests/sim/sim_helpers.h"
#include "tests/staged_model.h"
#include "tests/training.h"

namespace lockstep {
namespace {

constexpr int kStages = 4;
constexpr int kWidth = 32;
constexpr double kForward = 0.1, kBackward = 0.2;  // seconds of a layer for a sample

// A message of a micro-batch of one sample takes no time worth mentioning, or half of its forward
// pass.
constexpr const char* kFast = "bandwidth = \"10Gbit/s\"\nlatency = 0\n";
constexpr const char* kSlow = "bandwidth = 2560\nlatency = 0\n";
static_assert(kWidth * sizeof(float) / 2560.0 == kForward / 2);

std::shared_ptr<const Dataset> any_data() {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = "zeros";
  dataset->shape = {DataShape::Kind::kVector, {kWidth}, kWidth, 0};
  dataset->samples = dataset->first_test = 64;
  dataset->labels.resize(64);
  dataset->values = AlignedVector<float>(64 * kWidth);
  return dataset;
}

// Of a pipeline of equal stages.
double idle_share_of(const std::string& schedule, int microbatches, const char* cluster = kFast) {
  Config config;
  config.set({"model.name=fake", "data.validation=0", "data.normalise=false", "train.epochs=20",
              fmt::format("cluster.workers={}", kStages),
              fmt::format("parallel.stages={}", kStages),
              fmt::format("train.local_batch={}", microbatches),
              fmt::format("parallel.microbatches={}", microbatches),
              "parallel.schedule=" + schedule, "parallel.cuts=layer1,layer2,layer3"});
  const Job job(config, {any_data(), std::make_shared<StagedModel>(kStages)}, 0);
  double idle = 0;
  run_on(cluster, kStages, [&](Transport& transport) {
    Learner learner(transport, job);
    learner.start();
    BatchSource source(job, 0);
    std::int64_t own = 0;
    train_until(learner, source, 0, job.plan().steps(), own);
    const auto ledgers = gather_ledgers(learner.seat().trainers(), learner.ledger());
    if (transport.rank() == 0) idle = idle_share(ledgers);
    learner.rest();
  });
  return idle;
}

TEST(SimulatedPipeline, IdlesAsTheFormulaSays) {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    for (const int m : {2, 4, 16}) {
      EXPECT_NEAR(idle_share_of(schedule, m), (kStages - 1.0) / (m + kStages - 1), 0.01)
          << schedule << ", " << m << " micro-batches";
    }
  }
  EXPECT_NEAR(idle_share_of("sequential", 4), 1 - 1.0 / kStages, 0.01);
}

// Messages travel while other micro-batches are computed: of all of a step, only those of the first
// micro-batch to come and of the last to go back are waited for.
TEST(SimulatedPipeline, HidesMessagesBehindOtherMicroBatches) {
  constexpr double kThere = kWidth * sizeof(float) / 2560.0;
  constexpr double kBack = kThere + 3 * sizeof(double) / 2560.0;  // with loss and hits
  for (const int m : {2, 4, 16}) {
    const double busy = m * (kForward + kBackward);
    const double step =
        (m + kStages - 1) * (kForward + kBackward) + (kStages - 1) * (kThere + kBack);
    EXPECT_NEAR(idle_share_of("gpipe", m, kSlow), 1 - busy / step, 0.01) << m << " micro-batches";
  }
}

}  // namespace
}  // namespace lockstep
