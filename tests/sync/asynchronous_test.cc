// Whole asynchronous runs, on every world.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "lockstep/base/state_store.h"
#include "lockstep/train/ledgers.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

std::vector<std::string> asynchronous(int count, const std::vector<std::string>& more = {}) {
  return of_strategy("asynchronous", count, more);
}

// Batches of one sample are all full. In a short one samples count as in a full batch: nobody knows
// who else takes part in the step.
TEST(Asynchronous, OneWorkerIsSerial) {
  const auto threads = Registry<World>::instance().make("threads");
  const std::vector<std::string> alone{workers(1), "train.local_batch=1", "optim.momentum=0.5"};
  auto settings = alone;
  settings.push_back("sync.name=asynchronous");
  const Weights here = train_quadratic(*world_under_test(), settings);
  if (here.empty()) return;  // this process had no rank
  EXPECT_EQ(here, train_quadratic(*threads, alone));
}

TEST(Asynchronous, Learns) {
  Weights optimum;
  for (std::size_t i = 0; i < QuadraticReplica::kSize; ++i) {
    optimum.push_back(static_cast<float>(QuadraticReplica::optimum(i)));
  }
  for (const int count : ranks_under_test({1, 2, 3, 4})) {
    for (const char* damping : {"none", "workers", "staleness"}) {
      const Weights here = train_quadratic(
          *world_under_test(),
          asynchronous(count, {"train.epochs=12", std::string("sync.damping=") + damping}));
      if (!here.empty()) expect_near(here, optimum, 0.3);
    }
  }
}

// The steps of all workers, and what the server said to their pushes.
struct Account {
  double steps = 0;
  StalenessRecord staleness;
};

Account account_of(World& world, const Job& job) {
  Account account;
  train_all(world, job, [&](int rank, Learner& learner) {
    const auto ledgers = gather_ledgers(learner.group(), learner.ledger());
    const StalenessRecord staleness = sum_over(learner.group(), *learner.staleness());
    if (rank != 0) return;
    for (const WorkerLedger& one : ledgers) account.steps += one.steps;
    account.staleness = staleness;
  });
  return account;
}

std::int64_t sum(std::span<const std::int64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

TEST(Asynchronous, EveryTicketIsUsedOnce) {
  for (const int count : ranks_under_test({1, 2, 3, 4})) {
    for (const char* steps : {"0", "5"}) {  // fast workers go beyond the last one of the plan
      const auto world = world_under_test();
      const Job job = quadratic_job(asynchronous(
          count, {"cluster.slow=0=20", "cluster.jitter=0.2", std::string("train.steps=") + steps}));
      const Account account = account_of(*world, job);
      if (!world->leads()) continue;
      const std::int64_t tickets = count * job.plan().steps();
      EXPECT_EQ(account.steps, static_cast<double>(tickets));
      EXPECT_EQ(sum(account.staleness.pushes), tickets);
      EXPECT_EQ(account.staleness.rejected, 0);
    }
  }
}

TEST(Asynchronous, WhatIsTooOldIsRejectedAndCounted) {
  for (const int count : ranks_under_test({2, 4})) {
    for (const std::size_t most : {0u, 1u}) {
      const auto world = world_under_test();
      const Job job =
          quadratic_job(asynchronous(count, {"sync.max_staleness=" + std::to_string(most)}));
      const Account account = account_of(*world, job);
      if (!world->leads()) continue;
      const auto& pushes = account.staleness.pushes;
      EXPECT_EQ(sum(pushes), count * job.plan().steps());
      const auto fresh = std::span(pushes).first(std::min(pushes.size(), most + 1));
      EXPECT_EQ(account.staleness.rejected, sum(pushes) - sum(fresh));
    }
  }
}

// What arrived when on this world, replayed on threads.
TEST(Asynchronous, AReplayGivesTheSameBits) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : ranks_under_test({2, 3, 4})) {
    for (const char* servers : {"0", "1"}) {
      const auto settings = asynchronous(count, {std::string("aggregate.servers=") + servers,
                                                 "optim.momentum=0.5", "cluster.jitter=0.5"});
      Job job = quadratic_job(settings);
      const auto world = world_with_room_for(job.placement().ranks());
      ArrivalRecord record;
      const auto here = train_all(*world, job, {}, &record);
      if (record.empty()) continue;  // rank 0 was in another process
      EXPECT_EQ(record.size(), static_cast<std::size_t>(job.shards()));
      job.replay(record);
      ArrivalRecord again;
      EXPECT_EQ(train_all(*threads, job, {}, &again).front(), here.front()) << count << servers;
      EXPECT_EQ(again, record);
    }
  }
}

// Worker 0 comes to the second shard with its second push before worker 1 does with its first, as
// it may happen where messages are large: then the first shard is two updates ahead of the second.
TEST(Asynchronous, ShardsMayBeOfDifferentVersions) {
  Job job = quadratic_job(asynchronous(2, {"train.steps=2"}));
  const ArrivalRecord record{{0, 1, 1, 0, 0, 1, 0, 1, 0, 1},  // two claims, four pushes, pulls
                             {0, 0, 1, 1, 0, 1, 0, 1}};
  job.replay(record);
  ArrivalRecord again;
  StalenessRecord staleness;
  train_all(
      *Registry<World>::instance().make("threads"), job,
      [&](int rank, Learner& learner) {
        const StalenessRecord all = sum_over(learner.group(), *learner.staleness());
        if (rank == 0) staleness = all;
      },
      &again);
  EXPECT_EQ(again, record);
  // Ages at the shards, worker 0: 1 and 0, 0 and 0; worker 1: 0 and 2, 2 and 0. The older counts.
  EXPECT_EQ(staleness.pushes, (std::vector<std::int64_t>{1, 1, 2}));
}

#ifdef LOCKSTEP_HAVE_SIM

std::unique_ptr<World> sim() {
  return Registry<World>::instance().make("sim");
}

const std::vector<std::vector<std::string>> kClusters{
    {},
    {"cluster.slow=1=3.5"},
    {"cluster.jitter=0.4"},
    {"cluster.slow=0=2,2=1.5", "cluster.jitter=0.1"}};

TEST(Asynchronous, IsDeterministicOnTheSimulator) {
  for (const auto& cluster : kClusters) {
    const auto settings = asynchronous(3, cluster);
    EXPECT_EQ(train_quadratic(*sim(), settings), train_quadratic(*sim(), settings));
  }
}

TEST(Asynchronous, WhoTakesLongerIsStaleOnTheSimulator) {
  const Account account = account_of(
      *sim(), quadratic_job(asynchronous(3, {"cluster.slow=1=3.5", "sync.max_staleness=0"})));
  EXPECT_GT(account.staleness.rejected, 0);
  EXPECT_GT(account.staleness.pushes.size(), 3u);  // the slow one is overtaken several times
}

using Stores = std::vector<std::unique_ptr<StateStore>>;

// Trains to `until`, then lets the server rest. The order of arrivals is a matter of when workers
// begin: shortly one after the other, from a whole second of simulated time on. At one moment, the
// rounding of that moment would decide who comes first.
void train_stretch(Transport& transport, Learner& learner, BatchSource& source, std::int64_t from,
                   std::int64_t until, std::int64_t& own) {
  learner.start();
  const double begin = std::floor(transport.now()) + 2 + 1.3e-5 * transport.rank();
  transport.pause(begin - transport.now());
  EXPECT_EQ(train_until(learner, source, from, until, own), until);
  learner.rest();
}

// The state of every worker, with its shard, after training from `start` (empty: from the begin)
// through the steps of `meetings`.
Stores train_through(const Job& job, const Stores& start,
                     const std::vector<std::int64_t>& meetings) {
  Stores end(static_cast<std::size_t>(job.placement().worker_ranks()));
  sim()->run(job.placement().ranks(), [&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    Learner learner(transport, job);
    BatchSource source(job, transport.rank());
    std::int64_t own = 0;
    const auto show = [&](StateVisitor& visitor) {
      visitor.integer("own", own);
      learner.state(visitor);
    };
    if (!start.empty()) start[rank]->restore(show);
    for (std::size_t i = 1; i < meetings.size(); ++i) {
      train_stretch(transport, learner, source, meetings[i - 1], meetings[i], own);
    }
    end[rank] = std::make_unique<StateStore>(show);
  });
  return end;
}

TEST(Asynchronous, GoesOnFromAMeetingAsIfNothingHadHappened) {
  for (const auto& cluster : kClusters) {
    auto settings = asynchronous(3, cluster);
    settings.insert(settings.end(), {"optim.momentum=0.5", "optim.lr=0.02"});
    const Job job = quadratic_job(settings);
    const std::int64_t whole = job.plan().steps(), half = whole / 2;
    const Stores resumed = train_through(job, train_through(job, {}, {0, half}), {half, whole});
    const Stores never_stopped = train_through(job, {}, {0, half, whole});
    for (std::size_t rank = 0; rank < resumed.size(); ++rank) {
      const auto& one = resumed[rank]->values();
      const auto& other = never_stopped[rank]->values();
      ASSERT_EQ(one.size(), other.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].name, other[i].name);
        if (one[i].name.starts_with("ledger.")) continue;  // seconds, to rounding
        EXPECT_TRUE(std::ranges::equal(one[i].bytes, other[i].bytes)) << one[i].name;
      }
    }
  }
}

#endif

}  // namespace
}  // namespace lockstep
