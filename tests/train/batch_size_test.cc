#include "lockstep/train/batch_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/assign/epochs.h"
#include "lockstep/base/error.h"
#include "tests/quadratic_model.h"
#include "tests/training.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Job job_of(const std::vector<std::string>& settings, std::size_t samples = 2000) {
  Config config;
  config.set({"model.name=fake", "data.validation=0", "cluster.workers=16", "cluster.merge=1"});
  config.set(settings);
  return Job(config, {numbered_samples(samples), std::make_shared<QuadraticModel>()}, 0);
}

std::string refusal_of(const std::vector<std::string>& settings) {
  try {
    job_of(settings);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no refusal";
}

TEST(BatchSize, IsWhatIsGivenOr32) {
  EXPECT_EQ(job_of({}).local_batch(), 32u);
  EXPECT_EQ(job_of({"train.batch=64"}).local_batch(), 4u);
  EXPECT_EQ(job_of({"train.local_batch=5"}).global_batch(), 80u);
  EXPECT_EQ(job_of({"train.batch=64", "train.local_batch=4"}).local_batch(), 4u);
  EXPECT_THAT(
      refusal_of({"train.batch=64", "train.local_batch=5"}),
      AllOf(HasSubstr("batch = 64"), HasSubstr("local_batch = 5"), HasSubstr("16 workers")));
}

TEST(BatchSize, EffectiveBatchGivesTheLocalOneByTheHouseholds) {
  const Job job = job_of({"train.effective_batch=128", "sync.name=households", "sync.households=8",
                          "sync.world_period=128", "train.epochs=182"},
                         45000);
  EXPECT_EQ(job.local_batch(), 61u);
  EXPECT_EQ(job.plan().steps(), 8554);
  EXPECT_EQ(world_synchronizations(job.plan().steps(), 128), 67);
}

TEST(BatchSize, EffectiveBatchOfLocalSgdIsThatOfHouseholdsOfOne) {
  for (const char* name : {"local", "block-momentum"}) {
    EXPECT_EQ(
        job_of({"train.effective_batch=128", std::string("sync.name=") + name, "sync.period=8"})
            .local_batch(),
        job_of({"train.effective_batch=128", "sync.name=households", "sync.households=16",
                "sync.world_period=8"})
            .local_batch());
  }
}

TEST(BatchSize, EffectiveBatchOfSynchronousIsTheBatch) {
  EXPECT_EQ(job_of({"train.effective_batch=128"}).global_batch(), 128u);
}

// A run that is taken up again reads all three from its config.toml.
TEST(BatchSize, WhatIsWrittenCanBeReadAgain) {
  const Job job = job_of({"train.effective_batch=100", "sync.name=local"});
  Config again;
  again.read_text(job.config().to_toml(), "config.toml");
  const auto make = [&] {
    return Job(again, {numbered_samples(2000), std::make_shared<QuadraticModel>()}, 0);
  };
  EXPECT_EQ(make().local_batch(), job.local_batch());
  again.set({"train.effective_batch=200"});
  EXPECT_THROW(make(), ConfigError);
}

TEST(BatchSize, EffectiveBatchIsRefusedWhereThereIsNone) {
  for (const char* name : {"one-shot", "post-local", "warm-local", "adacomm", "asynchronous"}) {
    EXPECT_THAT(refusal_of({"train.effective_batch=128", std::string("sync.name=") + name}),
                AllOf(HasSubstr(name), HasSubstr("effective_batch"), HasSubstr("local_batch")));
  }
  EXPECT_THAT(
      refusal_of({"train.effective_batch=128", "sync.name=households", "sync.household_period=2"}),
      AllOf(HasSubstr("household_period is 2"), HasSubstr("local_batch")));
  EXPECT_THAT(refusal_of({"train.effective_batch=128", "train.batch=256"}),
              AllOf(HasSubstr("effective_batch = 128"), HasSubstr("batch = 256")));
  EXPECT_THAT(refusal_of({"train.effective_batch=128", "train.local_batch=9"}),
              AllOf(HasSubstr("effective_batch = 128"), HasSubstr("local_batch = 9")));
}

TEST(BatchSize, LinearScalingGoesByTheHouseholds) {
  const std::vector<std::string> base{
      "train.effective_batch=128", "sync.name=households", "sync.households=8",
      "sync.world_period=128",     "optim.lr=0.1",         "train.epochs=10"};
  auto scaled = base;
  scaled.insert(scaled.end(), {"schedule.scale=linear", "schedule.warmup_epochs=5"});
  const double factor = household_rate_factor(8, 128);
  const Job plain = job_of(base), job = job_of(scaled);
  const std::int64_t last = job.plan().steps() - 1;
  EXPECT_DOUBLE_EQ(plain.rates(last).lr, 0.1);
  EXPECT_DOUBLE_EQ(job.rates(0).lr, 0.1);
  EXPECT_DOUBLE_EQ(job.rates(last).lr, 0.1 * factor);
}

}  // namespace
}  // namespace lockstep
