#include "lockstep/train/slowdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/train/ledgers.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Slowdown slowdown_of(const Config& config, std::uint64_t seed = 1) {
  return Slowdown(config.at("cluster").own(), 4, seed);
}

Config set(const std::string& setting) {
  Config config;
  config.set({setting});
  return config;
}

std::string error_of(const std::string& slow) {
  try {
    slowdown_of(set("cluster.slow=" + slow));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Slowdown, NobodyIsSlowUnlessAskedTo) {
  const Slowdown none = slowdown_of(Config());
  for (int worker = 0; worker < 4; ++worker) EXPECT_EQ(none.factor(worker, 9), 1);
}

TEST(Slowdown, CanBeWrittenInManyWays) {
  const auto toml = [](const std::string& value) {
    Config config;
    config.read_text("[cluster]\nslow = " + value + "\n", "run.toml");
    return config;
  };
  for (const Config& config :
       {set("cluster.slow=3=2.0,1=1.5"), set("cluster.slow={3=2.0, 1 = 1.5}"),
        set("cluster.slow=[3=2, 1=1.5]"), toml("{3 = 2.0, 1 = 1.5}"), toml("{3 = 2, 1 = 1.5}"),
        toml("[\"3=2.0\", \"1 = 1.5\"]")}) {
    Config again;
    again.read_text(config.to_toml(), "config.toml");
    EXPECT_EQ(again.to_toml(), config.to_toml());
    for (const Config* one : {&config, static_cast<const Config*>(&again)}) {
      const Slowdown slowdown = slowdown_of(*one);
      EXPECT_EQ(slowdown.factor(3, 0), 2);
      EXPECT_EQ(slowdown.factor(1, 5), 1.5);
      EXPECT_EQ(slowdown.factor(0, 0), 1);
    }
  }
}

TEST(Slowdown, BadEntriesAreNamed) {
  for (const char* entry : {"3", "3=", "=2", "3=fast", "three=2", "3=0.5", "3=-2", "3=0", "3=nan",
                            "3=inf", "3=1e7", "3=2=1", "3.5=2"}) {
    EXPECT_THAT(error_of(entry),
                AllOf(HasSubstr("[cluster] slow"), HasSubstr(std::string("\"") + entry + "\""),
                      HasSubstr("{3 = 2.0}")));
  }
  EXPECT_THAT(error_of("4=2"), AllOf(HasSubstr("worker 4"), HasSubstr("0 … 3")));
  EXPECT_THAT(error_of("-1=2"), HasSubstr("worker -1"));
  EXPECT_THAT(error_of("1=2,1=3"), HasSubstr("worker 1 twice"));
  EXPECT_THROW(set("cluster.jitter=-1"), ConfigError);
}

TEST(Slowdown, IsRefusedBeforeAnythingStarts) {
  EXPECT_THROW(quadratic_job({workers(2), "cluster.slow=2=2"}), ConfigError);
}

TEST(Slowdown, JitterIsLogNormalWithMedianOne) {
  constexpr int kSteps = 20001;
  const Slowdown slowdown = slowdown_of(set("cluster.jitter=0.3"), 7);
  std::vector<double> logs;
  for (int step = 0; step < kSteps; ++step) logs.push_back(std::log(slowdown.factor(2, step)));
  double sum = 0, squares = 0;
  for (const double value : logs) sum += value, squares += value * value;
  const double mean = sum / kSteps;
  EXPECT_NEAR(std::sqrt(squares / kSteps - mean * mean), 0.3, 0.006);  // four standard errors
  std::ranges::nth_element(logs, logs.begin() + kSteps / 2);
  EXPECT_NEAR(logs[kSteps / 2], 0, 0.011);
}

TEST(Slowdown, JitterIsAFunctionOfSeedWorkerAndStep) {
  const Config config = set("cluster.jitter=0.3");
  const Slowdown one = slowdown_of(config), same = slowdown_of(config),
                 other = slowdown_of(config, 2);
  EXPECT_EQ(one.factor(1, 3), same.factor(1, 3));
  EXPECT_NE(one.factor(1, 3), other.factor(1, 3));
  EXPECT_NE(one.factor(1, 3), one.factor(2, 3));
  EXPECT_NE(one.factor(1, 3), one.factor(1, 4));
}

TEST(Slowdown, JitterComesOnTopOfTheFactor) {
  Config both = set("cluster.jitter=0.3");
  both.set({"cluster.slow=1=4"});
  EXPECT_DOUBLE_EQ(slowdown_of(both).factor(1, 6),
                   4 * slowdown_of(set("cluster.jitter=0.3")).factor(1, 6));
}

#ifdef LOCKSTEP_HAVE_SIM

// Simulated seconds that each rank has computed.
std::vector<double> seconds_computing(const std::vector<std::string>& settings) {
  const Job job = quadratic_job(settings);
  std::vector<double> seconds;
  train_all(*Registry<World>::instance().make("sim"), job, [&](int rank, Learner& learner) {
    const auto ledgers = gather_ledgers(learner.group(), learner.ledger());
    if (rank != 0) return;
    for (const WorkerLedger& one : ledgers) seconds.push_back(one.computing);
  });
  return seconds;
}

TEST(Slowdown, ASlowWorkerTakesTheFactorOnTheSimulator) {
  const auto usual = seconds_computing({workers(3)});
  const auto slowed = seconds_computing({workers(3), "cluster.slow=1=2.5"});
  ASSERT_EQ(slowed.size(), 3u);
  EXPECT_NEAR(slowed[1], 2.5 * usual[1], 1e-9 * usual[1]);
  for (const std::size_t other : {0u, 2u})
    EXPECT_NEAR(slowed[other], usual[other], 1e-9 * usual[0]);
}

TEST(Slowdown, OfMergedWorkersTheSlowestCounts) {
  const std::vector<std::string> merged{workers(4), "cluster.merge=2"};
  auto slow = merged;
  slow.push_back("cluster.slow=2=3,3=1.5");
  const auto usual = seconds_computing(merged), slowed = seconds_computing(slow);
  ASSERT_EQ(slowed.size(), 2u);
  EXPECT_NEAR(slowed[0], usual[0], 1e-9 * usual[0]);
  EXPECT_NEAR(slowed[1], 3 * usual[1], 1e-9 * usual[1]);
}

TEST(Slowdown, NobodyIsMadeFaster) {
  const auto usual = seconds_computing({workers(2)});
  const auto jittery = seconds_computing({workers(2), "cluster.jitter=0.5"});
  for (const std::size_t rank : {0u, 1u}) EXPECT_GT(jittery[rank], usual[rank]);
}

#endif

}  // namespace
}  // namespace lockstep
