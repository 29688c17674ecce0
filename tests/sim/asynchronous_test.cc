// Strategies in which nobody waits depend on who is faster, and the simulator always says the same.
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

TEST(SimAsynchronous, TwoRunsAreTheSameRun) {
  const auto sim = Registry<World>::instance().make("sim");
  for (const std::vector<std::string>& strategy :
       {std::vector<std::string>{"sync.name=gossip", "sync.probability=0.6"},
        {"sync.name=elastic", "sync.asynchronous=true", "sync.period=2"}}) {
    auto settings = strategy;
    settings.insert(settings.end(), {workers(4), "optim.momentum=0.9", "cluster.jitter=0.5"});
    EXPECT_EQ(train_quadratic(*sim, settings), train_quadratic(*sim, settings)) << strategy[0];
  }
}

// Elsewhere a worker may be so slow that all it ever hears is old.
TEST(SimAsynchronous, GossipSpreadsWhatIsKnown) {
  const auto sim = Registry<World>::instance().make("sim");
  for (const int count : {2, 3, 4}) {
    const Weights model = train_quadratic(
        *sim, {"sync.name=gossip", "sync.probability=0.5", "train.epochs=40", workers(count)});
    for (std::size_t i = 0; i < model.size(); ++i) {
      EXPECT_NEAR(model[i], QuadraticReplica::optimum(i), 0.2) << count;
    }
  }
}

}  // namespace
}  // namespace lockstep
