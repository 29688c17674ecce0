// The simulator's clock against the formula for pipelines.
#include <gtest/gtest.h>

#include "tests/staged_model.h"
#include "tests/training.h"

namespace lockstep {
namespace {

constexpr int kStages = 4;

std::shared_ptr<const Dataset> any_data() {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = "zeros";
  dataset->shape = {DataShape::Kind::kVector, {2}, 2, 0};
  dataset->samples = dataset->first_test = 64;
  dataset->labels.resize(64);
  dataset->values = AlignedVector<float>(128);
  return dataset;
}

// Of a pipeline of equal stages, whose messages take next to no time.
double idle_share_of(const std::string& schedule, int microbatches) {
  Config config;
  config.set(
      {"model.name=fake", "data.validation=0", "data.normalise=false", "train.epochs=20",
       fmt::format("cluster.workers={}", kStages), fmt::format("parallel.stages={}", kStages),
       fmt::format("train.local_batch={}", microbatches),
       fmt::format("parallel.microbatches={}", microbatches), "parallel.schedule=" + schedule});
  const Job job(config, {any_data(), std::make_shared<StagedModel>(kStages)}, 0);
  double idle = 0;
  Registry<World>::instance().make("sim")->run(kStages, [&](Transport& transport) {
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

}  // namespace
}  // namespace lockstep
