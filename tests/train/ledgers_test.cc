#include "lockstep/train/ledgers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/state_store.h"
#include "lockstep/train/ledger_table.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Ledgers, AreGatheredByRank) {
  const auto world = world_with_room_for(3);
  world->run(3, [](Transport& transport) {
    Group group(transport);
    const double own = transport.rank() + 1;
    const auto all =
        gather_ledgers(group, {.steps = own, .waiting = 0.5 * own, .sent = 1e15 * own});
    ASSERT_EQ(all.size(), 3u);
    for (std::size_t rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(all[rank].steps, static_cast<double>(rank + 1));
      EXPECT_EQ(all[rank].sent, 1e15 * static_cast<double>(rank + 1));
    }
  });
}

TEST(Ledgers, StalenessAddsUpOverWorkersThatSawDifferentAges) {
  const auto world = world_with_room_for(3);
  world->run(3, [](Transport& transport) {
    Group group(transport);
    StalenessRecord mine;  // rank r: a push each of the ages 0 … r
    for (int age = 0; age <= transport.rank(); ++age) mine.add(age, age == 2);
    const StalenessRecord all = sum_over(group, mine);
    EXPECT_THAT(all.pushes, ElementsAre(3, 2, 1));
    EXPECT_EQ(all.rejected, 1);
  });
}

// Synchronous with one slow worker: the others wait for it, it waits for nobody.
TEST(Ledgers, TimeIsComputingWaitingOrCommunicating) {
  const auto world = world_with_room_for(3);
  const Job job = quadratic_job({workers(3), "cluster.slow=1=3", "aggregate.algorithm=ring"});
  std::vector<WorkerLedger> ledgers;
  std::vector<double> seconds(3);
  world->run(3, [&](Transport& transport) {
    Learner learner(transport, job);
    BatchSource source(job, transport.rank());
    std::int64_t own = 0;
    const double began = transport.now();
    train_until(learner, source, 0, job.plan().steps(), own);
    seconds[static_cast<std::size_t>(transport.rank())] = transport.now() - began;
    const auto all = gather_ledgers(learner.group(), learner.ledger());
    if (transport.rank() == 0) ledgers = all;
  });
  if (ledgers.empty()) return;  // rank 0 was in another process
  const auto steps = static_cast<double>(job.plan().steps());
  const Tally tally =
      Registry<AllReduce>::instance().make("ring")->tally_of(3, QuadraticReplica::kSize);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const WorkerLedger& one = ledgers[rank];
    EXPECT_EQ(one.steps, steps);
    EXPECT_EQ(one.sent, steps * static_cast<double>(tally.bytes_of(static_cast<int>(rank))));
    EXPECT_EQ(one.received, one.sent);
    EXPECT_EQ(one.rounds, steps * tally.cost().steps);
  }
  if (!world->simulated()) return;  // real clocks promise nothing
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const WorkerLedger& one = ledgers[rank];
    EXPECT_NEAR(one.computing + one.waiting + one.communicating, seconds[rank],
                0.001 * seconds[rank]);
  }
  EXPECT_NEAR(ledgers[1].computing, 3 * ledgers[0].computing, 1e-9);
  EXPECT_LT(ledgers[1].waiting, 0.01 * seconds[1]);
  for (const std::size_t other : {0u, 2u}) {
    EXPECT_NEAR(ledgers[other].waiting, 2 * ledgers[other].computing, 0.05 * seconds[other]);
  }
}

TEST(Ledgers, SurviveAResume) {
  const auto world = world_with_room_for(2);
  const Job job = quadratic_job({workers(2)});
  const std::int64_t half = job.plan().steps() / 2;
  world->run(2, [&](Transport& transport) {
    Learner first(transport, job);
    BatchSource source(job, transport.rank());
    std::int64_t own = 0;
    train_until(first, source, 0, half, own);
    const WorkerLedger saved = first.ledger();
    const StateStore store([&](StateVisitor& visitor) { first.state(visitor); });
    Learner second(transport, job);
    store.restore([&](StateVisitor& visitor) { second.state(visitor); });
    train_until(second, source, half, job.plan().steps(), own);
    const WorkerLedger& all = second.ledger();
    EXPECT_EQ(all.steps, static_cast<double>(job.plan().steps()));
    EXPECT_EQ(all.sent * static_cast<double>(half), saved.sent * all.steps);
    EXPECT_EQ(all.rounds * static_cast<double>(half), saved.rounds * all.steps);
    EXPECT_GE(all.computing, saved.computing);
    EXPECT_GE(all.waiting + all.communicating, saved.waiting + saved.communicating);
    EXPECT_EQ(second.ledger().sent, all.sent);  // asking again adds nothing
  });
}

TEST(LedgerTable, HasARowAWorker) {
  const std::vector<WorkerLedger> ledgers{{.steps = 18,
                                           .computing = 1.5,
                                           .updating = 3e-6,
                                           .waiting = 0.25,
                                           .sent = 2048,
                                           .received = 1024,
                                           .rounds = 36},
                                          {.steps = 17, .communicating = 0.002}};
  EXPECT_EQ(
      ledger_table(ledgers, {.workers = 2}),
      "worker  steps  computing  updating    waiting  communicating  sent  received  rounds\n"
      "0          18     1.50 s    3.0 us  250.00 ms         0.0 us    2K        1K      36\n"
      "1          17     0.0 us    0.0 us     0.0 us        2.00 ms     0         0       0\n");
  EXPECT_THAT(ledger_table(ledgers, {.workers = 8, .merge = 4}),
              AllOf(HasSubstr("\n0-3 "), HasSubstr("\n4-7 ")));
}

TEST(LedgerTable, IsShortWhereThereAreManyWorkers) {
  std::vector<WorkerLedger> ledgers(17);
  for (std::size_t i = 0; i < ledgers.size(); ++i) ledgers[i].steps = static_cast<double>(100 - i);
  const std::string table = ledger_table(ledgers, {.workers = 17});
  EXPECT_EQ(std::ranges::count(table, '\n'), 4);
  EXPECT_THAT(table, AllOf(HasSubstr("least      84"), HasSubstr("median     92"),
                           HasSubstr("most      100")));
}

TEST(LedgerTable, StalenessIsOneLine) {
  EXPECT_EQ(staleness_line({}), "");
  EXPECT_EQ(staleness_line({{2, 0, 2}, 1}),
            "staleness   mean 1.00, at most 2; 1 of 4 pushes rejected");
}

}  // namespace
}  // namespace lockstep
