// What must hold of a training run, on every world, checked with a model written out by hand.
#include "tests/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "lockstep/base/error.h"
#include "tests/linear_model.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::size_t kSamples = 103;  // divides by nothing

Config config_of(std::vector<std::string> settings) {
  Config config;
  config.set({"model.name=fake", "train.batch=24", "train.epochs=3", "data.validation=0",
              "cluster.merge=1", "assign.shuffle=once", "optim.lr=0.1", "optim.momentum=0.9"});
  config.set(settings);
  return config;
}

Job make_job(const std::vector<std::string>& settings) {
  return Job(config_of(settings), {three_directions(kSamples), std::make_shared<LinearModel>()}, 0);
}

Weights train_on(World& world, const std::vector<std::string>& settings) {
  const Job job = make_job(settings);
  const auto all = train_all(world, job);
  for (const auto& one : all) EXPECT_EQ(one, all.front()) << "ranks differ";
  return all.empty() ? Weights{} : all.front();
}

std::string workers(int count) {
  return "cluster.workers=" + std::to_string(count);
}

TEST(Training, WorkersTogetherAreOneWorkerWithTheWholeBatch) {
  const auto threads = Registry<World>::instance().make("threads");
  const Weights one = train_on(*threads, {workers(1)});
  for (const int count : ranks_under_test({1, 2, 3, 4})) {
    const Weights many = train_on(*world_under_test(), {workers(count)});
    if (many.empty()) continue;  // this process had no rank
    ASSERT_EQ(many.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(many[i], one[i], 1e-5) << count;
  }
}

TEST(Training, EveryWorldComputesTheSameBits) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : ranks_under_test({1, 2, 4})) {
    for (const char* algorithm : {"native", "ring", "butterfly"}) {
      const std::vector<std::string> settings{workers(count),
                                              std::string("aggregate.algorithm=") + algorithm,
                                              "assign.shuffle=epoch", "train.batch=20"};
      const Weights here = train_on(*world_under_test(), settings);
      if (here.empty()) continue;  // this process had no rank
      EXPECT_EQ(here, train_on(*threads, settings)) << algorithm;
    }
  }
}

TEST(Training, MergedWorkersComputeWhatSeparateOnesDo) {
  const auto threads = Registry<World>::instance().make("threads");
  const Weights separate = train_on(*threads, {workers(6)});
  for (const char* merge : {"2", "3", "6"}) {
    const Weights merged = train_on(*threads, {workers(6), std::string("cluster.merge=") + merge});
    for (std::size_t i = 0; i < separate.size(); ++i) EXPECT_NEAR(merged[i], separate[i], 1e-5);
  }
}

// Two ranks, or all that mpirun started: others would only see that the run has ended.
int ranks_that_all_take_part() {
  return world_under_test_name() == "mpi" ? world_under_test()->most_ranks() : 2;
}

TEST(Training, LearnsWhatThereIsToLearn) {
  const auto world = world_with_room_for(2);
  const Job job = make_job({workers(2), "train.epochs=30", "data.validation=0.2"});
  world->run(2, [&](Transport& transport) {
    Learner learner(transport, job);
    BatchSource source(job, transport.rank());
    const Tallies before = learner.validate(job.split().validation);
    std::int64_t own = 0;
    train_until(learner, source, 0, job.plan().steps(), own);
    const Tallies after = learner.validate(job.split().validation);
    EXPECT_LT(after.mean_loss(), before.mean_loss() / 2);
    EXPECT_GT(after.accuracy(), 0.9);
    EXPECT_EQ(after.samples, static_cast<double>(job.split().validation.size()));
  });
}

TEST(Training, ValidationLeavesTheWorkersOwnStatisticsAlone) {
  const auto world = world_with_room_for(2);
  const Job job = make_job({workers(2), "data.validation=0.2"});
  world->run(2, [&](Transport& transport) {
    Learner learner(transport, job);
    BatchSource source(job, transport.rank());
    Batch batch;
    source.fill(0, batch);
    learner.learn(0, 0, batch, false);
    const float own = learner.replica().buffers()[0];
    learner.validate(job.split().validation);
    EXPECT_EQ(learner.replica().buffers()[0], own);
    learner.with_model([&] { EXPECT_NE(learner.replica().buffers()[0], own); });
  });
}

TEST(Training, ALossThatIsNoNumberNamesStepWorkerAndRate) {
  const int ranks = ranks_that_all_take_part();
  const Job job = make_job({workers(ranks), "optim.lr=1e30", "train.epochs=20"});
  try {
    train_all(*world_under_test(), job);
    ADD_FAILURE() << "it went on";
  } catch (const Error& error) {  // on mpi the other processes hear of it as a CommError
    EXPECT_THAT(error.what(), AllOf(HasSubstr("at step "), HasSubstr("on worker "),
                                    HasSubstr("learning rate 1e+30")));
    if (world_under_test_name() != "mpi") {
      EXPECT_EQ(error.exit_code(), TrainingError::kExitCode);
    }
  }
}

TEST(Training, RanksThatDisagreeAreToldAboutWhat) {
  const int ranks = ranks_that_all_take_part();
  const Job one = make_job({workers(ranks)}), other = make_job({workers(ranks), "train.seed=9"});
  try {
    world_under_test()->run(ranks, [&](Transport& transport) {
      Learner learner(transport, transport.rank() == 0 ? one : other);
    });
    ADD_FAILURE() << "nobody noticed";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("[train] seed"), HasSubstr("rank 0 says \"1\""), HasSubstr("9")));
  }
}

}  // namespace
}  // namespace lockstep
