// Stale-synchronous training as a whole; what a single read holds is told by the rule's test.
#include <gtest/gtest.h>

#include <numeric>

#include "lockstep/train/ledgers.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

std::vector<std::string> stale_synchronous(int count, const std::vector<std::string>& more = {}) {
  return of_strategy("stale-synchronous", count, more);
}

// By worker: its steps. Empty where rank 0 is in another process.
std::vector<double> steps_of(World& world, const Job& job) {
  std::vector<double> steps;
  train_all(world, job, [&](int rank, Learner& learner) {
    const auto all = gather_ledgers(learner.group(), learner.ledger());
    if (rank != 0) return;
    for (const WorkerLedger& one : all) steps.push_back(one.steps);
  });
  return steps;
}

TEST(StaleSynchronous, EveryBatchIsTakenOnceWhoeverTakesIt) {
  for (const int count : ranks_under_test({2, 3, 4})) {
    for (const char* help : {"true", "false"}) {
      const Job job = quadratic_job(
          stale_synchronous(count, {"cluster.jitter=0.5", std::string("sync.help=") + help}));
      const auto steps = steps_of(*world_with_room_for(job.placement().ranks()), job);
      if (steps.empty()) continue;
      const auto whole = static_cast<double>(job.plan().steps());
      EXPECT_EQ(std::accumulate(steps.begin(), steps.end(), 0.0), whole * count);
      if (std::string(help) == "true") continue;
      for (const double own : steps) EXPECT_EQ(own, whole);
    }
  }
}

TEST(StaleSynchronous, AReplayGivesTheSameBits) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : ranks_under_test({2, 3, 4})) {
    Job job = quadratic_job(stale_synchronous(count, {"cluster.jitter=0.5", "sync.bound=2"}));
    ArrivalRecord record;
    const auto here = train_all(*world_with_room_for(job.placement().ranks()), job, {}, &record);
    if (record.empty()) continue;  // rank 0 was in another process
    job.replay(record);
    EXPECT_EQ(train_all(*threads, job).front(), here.front()) << count;
  }
}

#ifdef LOCKSTEP_HAVE_SIM

TEST(StaleSynchronous, OthersTakeOverStepsOfASlowWorkerOnTheSimulator) {
  const auto sim = Registry<World>::instance().make("sim");
  const auto steps =
      steps_of(*sim, quadratic_job(stale_synchronous(4, {"cluster.slow=1=3", "train.epochs=20"})));
  ASSERT_EQ(steps.size(), 4u);
  for (const std::size_t fast : {0u, 2u, 3u}) EXPECT_GT(steps[fast], 2 * steps[1]);
  EXPECT_GT(steps[1], 0);
}

TEST(StaleSynchronous, IsDeterministicOnTheSimulator) {
  const auto sim = Registry<World>::instance().make("sim");
  for (const char* slow : {"cluster.slow=1=3.5", "cluster.jitter=0.4"}) {
    const auto settings = stale_synchronous(3, {slow});
    EXPECT_EQ(train_quadratic(*sim, settings), train_quadratic(*sim, settings));
  }
}

#endif

}  // namespace
}  // namespace lockstep
