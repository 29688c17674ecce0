#include "lockstep/transport/thread_budget.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "lockstep/transport/world.h"

namespace lockstep {
namespace {

TEST(ThreadBudget, SharesTheCoresAndNeverGivesLessThanOne) {
  unsetenv("OMP_NUM_THREADS");
  const int cores = usable_cores();
  EXPECT_GE(cores, 1);
  EXPECT_EQ(thread_budget(1), cores);
  EXPECT_EQ(thread_budget(10'000), 1);
  for (int ranks = 1; ranks <= cores; ++ranks) EXPECT_LE(thread_budget(ranks) * ranks, cores);
}

TEST(ThreadBudget, RespectsWhatTheUserSet) {
  setenv("OMP_NUM_THREADS", "3", 1);
  EXPECT_EQ(thread_budget(1), 3);
  setenv("OMP_NUM_THREADS", "nonsense", 1);
  EXPECT_GE(thread_budget(1), 1);
  unsetenv("OMP_NUM_THREADS");
}

// A run asked for one thread; OpenBLAS has one count for the whole process.
TEST(ThreadBudget, CompanionsKeepWhatTheirRankHas) {
  Registry<World>::instance().make("threads")->run(2, [](Transport& transport) {
    apply_thread_budget(7);
    int seen = 0;
    transport.spawn([&](Transport&) { seen = applied_thread_budget(); })->join();
    EXPECT_EQ(seen, 7);
  });
}

}  // namespace
}  // namespace lockstep
