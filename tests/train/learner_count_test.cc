#include "lockstep/train/learner_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/transport/thread_budget.h"
#include "tests/quadratic_model.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LearnerSearch search(const std::vector<double>& throughput, double gain) {
  return search_learners(
      [&](int learners) { return throughput.at(static_cast<std::size_t>(learners - 1)); }, gain,
      static_cast<int>(throughput.size()));
}

TEST(LearnerCount, GrowsAsLongAsThroughputDoes) {
  const auto found = search({100, 150, 180, 185, 400}, 0.05);
  EXPECT_EQ(found.best, 3);
  EXPECT_THAT(found.found, ElementsAre(100, 150, 180, 185));  // what comes later is not tried
}

TEST(LearnerCount, OneIsEnoughWhereMoreDoNotHelp) {
  EXPECT_EQ(search({100, 104, 200}, 0.05).best, 1);
  EXPECT_EQ(search({100, 50}, 0.05).best, 1);
  EXPECT_EQ(search({100}, 0.05).best, 1);
}

TEST(LearnerCount, AGainThatIsJustEnoughCounts) {
  EXPECT_EQ(search({100, 150, 225}, 0.5).best, 3);
}

Config with_learners(const std::string& learners, const std::string& world) {
  Config config;
  config.set({"model.name=fake", "train.local_batch=4", "sync.name=model-averaging",
              "cluster.world=" + world, "cluster.workers=3", "sync.learners=" + learners});
  return config;
}

std::int64_t workers_of(const Config& config) {
  return config.at("cluster").own().integer("workers");
}

TEST(LearnerCount, SetsTheWorkers) {
  const auto world = Registry<World>::instance().make("threads");
  Ingredients none;
  Config config = with_learners("2", "threads");
  EXPECT_THAT(settle_learners(*world, config, none), ElementsAre(HasSubstr("2 learners on each")));
  EXPECT_EQ(workers_of(config), 2 * usable_cores());
  EXPECT_EQ(config.at("sync").options().text("learners"), "");

  Config untouched = with_learners("", "threads");
  EXPECT_THAT(settle_learners(*world, untouched, none), IsEmpty());
  EXPECT_EQ(workers_of(untouched), 3);
}

TEST(LearnerCount, MeasuresWithTheRealModelAndData) {
  const auto world = Registry<World>::instance().make("threads");
  Ingredients own{numbered_samples(2000), std::make_shared<QuadraticModel>()};
  Config config = with_learners("auto", "threads");
  EXPECT_THAT(settle_learners(*world, config, own), ElementsAre(HasSubstr("Samples/s with 1, 2")));
  EXPECT_EQ(workers_of(config) % usable_cores(), 0);
  EXPECT_EQ(Job(config, own, 0).placement().workers, workers_of(config));
}

TEST(LearnerCount, RefusesWorldsWithCoresOfTheirOwn) {
  const auto world = Registry<World>::instance().make("threads");
  Ingredients none;
  for (const char* where : {"sim", "mpi"}) {
    Config config = with_learners("auto", where);
    try {
      settle_learners(*world, config, none);
      ADD_FAILURE() << "it did not refuse " << where;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("learners = \"auto\""), HasSubstr("[cluster] workers")));
    }
  }
}

TEST(LearnerCount, RefusesWhatIsNoNumber) {
  const auto world = Registry<World>::instance().make("threads");
  Ingredients none;
  for (const char* text : {"0", "-1", "two", "2x", "1.5"}) {
    Config config = with_learners(text, "threads");
    EXPECT_THROW(settle_learners(*world, config, none), ConfigError) << text;
  }
}

}  // namespace
}  // namespace lockstep
