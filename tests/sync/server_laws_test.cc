// What must hold of strategies that use the parameter server, on every world.
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

const std::vector<int> kCounts{1, 2, 3, 4};

TEST(ServerLaws, SynchronousThroughTheServerIsSynchronousThroughAllReduce) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : ranks_under_test(kCounts)) {
    for (const char* optimizer : {"sgd", "adam"}) {
      const std::vector<std::string> base{workers(count), std::string("optim.name=") + optimizer};
      auto served = base;
      served.push_back("aggregate.via=server");
      const Weights here = train_quadratic(*world_under_test(), served);
      if (here.empty()) continue;  // this process had no rank
      EXPECT_EQ(here, train_quadratic(*threads, base)) << count;
    }
  }
}

TEST(ServerLaws, StaleSynchronousWithBoundZeroIsSynchronous) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : ranks_under_test(kCounts)) {
    const std::vector<std::string> base{workers(count), "optim.momentum=0.9"};
    auto stale = base;
    stale.insert(stale.end(), {"sync.name=stale-synchronous", "sync.bound=0"});
    const Weights here = train_quadratic(*world_under_test(), stale);
    if (here.empty()) continue;  // this process had no rank
    EXPECT_EQ(here, train_quadratic(*threads, base)) << count;
  }
}

TEST(ServerLaws, ShardsOnRanksOfTheirOwnComputeTheSame) {
  const auto world = world_with_room_for(5);
  for (const char* servers : {"1", "2", "3"}) {
    const std::vector<std::string> base{workers(2), "aggregate.via=server", "optim.momentum=0.9"};
    auto apart = base;
    apart.push_back(std::string("aggregate.servers=") + servers);
    EXPECT_EQ(train_quadratic(*world, apart), train_quadratic(*world, base)) << servers;
  }
}

}  // namespace
}  // namespace lockstep
