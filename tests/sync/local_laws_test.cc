// Equalities between local SGD, its relatives and synchronous SGD, on every world.
#include "tests/sync/family.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

const std::vector<int> kCounts{1, 2, 3, 4};
const Settings kSynchronous{"sync.name=synchronous"};

std::unique_ptr<World> threads() {
  return Registry<World>::instance().make("threads");
}

// The one on the world under test, the other on threads.
void expect_equal(int count, const Settings& common, const Settings& one, const Settings& other) {
  const Settings base = together({workers(count)}, common);
  const Weights here = train_quadratic(*world_under_test(), together(base, one));
  if (here.empty()) return;  // this process had no rank
  EXPECT_EQ(here, train_quadratic(*threads(), together(base, other)))
      << count << " workers, " << name_of(common) << name_of(one);
}

void expect_nearly_equal(int count, const Settings& common, const Settings& one,
                         const Settings& other) {
  const Settings base = together({workers(count)}, common);
  const Weights here = train_quadratic(*world_under_test(), together(base, one));
  if (here.empty()) return;
  SCOPED_TRACE(name_of(common) + name_of(one));
  expect_near(here, train_quadratic(*threads(), together(base, other)), 1e-5);
}

TEST(LocalLaws, LocalThatAveragesEveryStepIsSynchronous) {
  const Settings every{"sync.name=local", "sync.period=1"};
  for (const int count : ranks_under_test(kCounts)) {
    expect_nearly_equal(count, {"optim.weight_decay=0.01"}, every, kSynchronous);
    const Settings momentum{"optim.momentum=0.9", "optim.lr=0.02"};
    expect_nearly_equal(count, momentum, together(every, {"sync.momentum=average"}), kSynchronous);
    expect_nearly_equal(count, momentum, together(every, {"sync.momentum=local"}), kSynchronous);
  }
}

TEST(LocalLaws, ResettingEveryStepIsSynchronousWithoutMomentum) {
  for (const int count : ranks_under_test(kCounts)) {
    expect_nearly_equal(count, {},
                        together({"sync.name=local", "sync.period=1", "sync.momentum=reset"},
                                 {"optim.momentum=0.9"}),
                        kSynchronous);
  }
}

TEST(LocalLaws, PostLocalThatNeverSwitchesIsSynchronous) {
  for (const int count : ranks_under_test(kCounts)) {
    for (const char* optimizer : {"optim.name=sgd", "optim.name=adam"}) {
      expect_equal(count, {optimizer}, {"sync.name=post-local", "sync.switch=1"}, kSynchronous);
    }
  }
}

TEST(LocalLaws, PostLocalThatSwitchesAtOnceIsLocal) {
  for (const int count : ranks_under_test(kCounts)) {
    for (const char* memory : {"local", "reset", "average"}) {
      const Settings same{"sync.period=5", std::string("sync.momentum=") + memory,
                          "optim.momentum=0.9", "optim.lr=0.02"};
      expect_equal(count, {}, together({"sync.name=post-local", "sync.switch=0"}, same),
                   together({"sync.name=local"}, same));
    }
  }
}

TEST(LocalLaws, OneShotIsLocalWithASingleBlock) {
  for (const int count : ranks_under_test(kCounts)) {
    const std::int64_t steps = quadratic_job({workers(count)}).plan().steps();
    expect_equal(count, {"optim.momentum=0.9", "optim.lr=0.02"}, {"sync.name=one-shot"},
                 {"sync.name=local", "sync.period=" + std::to_string(steps)});
  }
}

TEST(LocalLaws, WarmLocalToPeriodOneIsLocalWithPeriodOne) {
  for (const int count : ranks_under_test(kCounts)) {
    for (const char* growth : {"sync.growth=geometric", "sync.growth=linear"}) {
      expect_equal(count, {}, {"sync.name=warm-local", "sync.period=1", growth},
                   {"sync.name=local", "sync.period=1"});
    }
  }
}

TEST(LocalLaws, AdaCommWithoutAnEndOfItsIntervalIsLocal) {
  for (const int count : ranks_under_test(kCounts)) {
    expect_equal(count, {}, {"sync.name=adacomm", "sync.period=5", "sync.interval_steps=100000"},
                 {"sync.name=local", "sync.period=5"});
  }
}

TEST(LocalLaws, BlockMomentumWithoutMomentumIsLocal) {
  for (const int count : ranks_under_test(kCounts)) {
    for (const char* memory : {"sync.momentum=local", "sync.momentum=average"}) {
      const Settings same{"sync.period=4", memory, "optim.momentum=0.9", "optim.lr=0.02"};
      expect_nearly_equal(count, {},
                          together({"sync.name=block-momentum", "sync.block_momentum=0"}, same),
                          together({"sync.name=local"}, same));
    }
  }
}

// A block of one step is a gradient step, and its filter is the momentum of SGD.
TEST(LocalLaws, BlockMomentumOfSingleStepsIsMomentum) {
  for (const int count : ranks_under_test(kCounts)) {
    expect_nearly_equal(count, {"optim.lr=0.02"},
                        {"sync.name=block-momentum", "sync.period=1", "sync.block_momentum=0.9"},
                        together(kSynchronous, {"optim.momentum=0.9"}));
    expect_nearly_equal(count, {},
                        {"sync.name=block-momentum", "sync.period=1", "sync.block_momentum=0",
                         "sync.block_rate=0.5", "optim.lr=0.1"},
                        together(kSynchronous, {"optim.lr=0.05"}));
  }
}

TEST(LocalLaws, BlockMomentumByItselfIsOneMinusOneOverTheWorkers) {
  for (const int count : ranks_under_test({1, 2, 4})) {
    const std::string by_hand = std::to_string(1 - 1.0 / count);
    expect_equal(count, {}, {"sync.name=block-momentum"},
                 {"sync.name=block-momentum", "sync.block_momentum=" + by_hand});
  }
}

TEST(LocalLaws, OneHouseholdThatAveragesEveryStepIsSynchronous) {
  for (const int count : ranks_under_test(kCounts)) {
    for (const char* momentum : {"optim.momentum=0", "optim.momentum=0.5"}) {
      expect_nearly_equal(count, {momentum}, {"sync.name=households", "sync.households=1"},
                          kSynchronous);
    }
  }
}

TEST(LocalLaws, HouseholdsOfOneWorkerAreLocal) {
  for (const int count : ranks_under_test(kCounts)) {
    for (const char* period : {"2", "3", "8"}) {
      expect_equal(count, {"optim.momentum=0.9", "optim.lr=0.02"},
                   {"sync.name=households", "sync.households=" + std::to_string(count),
                    std::string("sync.world_period=") + period},
                   {"sync.name=local", std::string("sync.period=") + period});
    }
  }
}

TEST(LocalLaws, NeighbourhoodsOfOneHouseholdAreHouseholds) {
  for (const int count : ranks_under_test({2, 4})) {
    const Settings same{"sync.name=households", "sync.households=2", "sync.world_period=6"};
    expect_equal(count, {},
                 together(same, {"sync.neighbourhoods=2", "sync.neighbourhood_period=3"}), same);
  }
}

TEST(LocalLaws, SizesThatAreEqualAreTheNumberOfHouseholds) {
  for (const int count : ranks_under_test({2, 4})) {
    const std::string half = std::to_string(count / 2);
    expect_equal(count, {}, {"sync.name=households", "sync.household_sizes=" + half + "," + half},
                 {"sync.name=households", "sync.households=2"});
  }
}

TEST(LocalLaws, EveryWorldComputesTheSameBits) {
  for (const int count : ranks_under_test({1, 2, 3, 4, 8})) {
    for (const Settings& settings : local_family(count)) {
      expect_equal(count, {"optim.momentum=0.5"}, settings, settings);
    }
  }
}

TEST(LocalLaws, TheServerAveragesLikeTheAllReduce) {
  for (const int count : ranks_under_test({1, 2, 3, 4, 8})) {
    for (const Settings& settings : local_family(count)) {
      expect_equal(count, {"optim.momentum=0.5"}, together(settings, {"aggregate.via=server"}),
                   settings);
    }
  }
}

}  // namespace
}  // namespace lockstep
