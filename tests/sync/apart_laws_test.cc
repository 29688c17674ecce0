// What must hold of every strategy that keeps models apart: a run that stops at a meeting and goes
// on in fresh workers is the run that never stopped, bit for bit; and strategies that wait compute
// the same bits on every world.
#include "tests/resuming.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

using Settings = std::vector<std::string>;

const std::vector<Settings> kWaiting{
    {"sync.name=elastic", "sync.period=3"},
    {"sync.name=elastic", "sync.period=2", "aggregate.via=server"},
    {"sync.name=model-averaging", "schedule.name=step"},
    {"sync.name=neighbours", "sync.graph=ring"},
    {"sync.name=neighbours", "sync.graph=torus"},
    {"sync.name=neighbours", "sync.graph=exponential"},
};
const std::vector<Settings> kNeverWaiting{
    {"sync.name=elastic", "sync.period=3", "sync.asynchronous=true"},
    {"sync.name=gossip", "sync.probability=0.6"},
};

Settings with(Settings settings, int count) {
  settings.insert(settings.end(), {workers(count), "optim.momentum=0.9"});
  return settings;
}

TEST(ApartLaws, EveryWorldComputesTheSameBits) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const Settings& strategy : kWaiting) {
    for (const int count : ranks_under_test({1, 2, 3, 4})) {
      const Weights here = train_quadratic(*world_under_test(), with(strategy, count));
      if (here.empty()) continue;  // this process had no rank
      EXPECT_EQ(here, train_quadratic(*threads, with(strategy, count))) << strategy[0] << count;
    }
  }
}

TEST(ApartLaws, ARunThatGoesOnIsTheRunThatNeverStopped) {
  for (const auto* strategies : {&kWaiting, &kNeverWaiting}) {
    for (const Settings& strategy : *strategies) {
      for (const int count : ranks_under_test({1, 2, 3, 4})) {
        SCOPED_TRACE(strategy[0]);
        expect_resumes([&] { return quadratic_job(with(strategy, count)); }, count);
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
