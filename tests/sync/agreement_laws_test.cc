// When there is one model, and what must be remembered on the way to it: laws of everything that
// averages every so often, on every world.
#include <algorithm>
#include <cstring>
#include <functional>

#include "lockstep/base/state_store.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/sync/periods.h"
#include "tests/sync/family.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

Settings momentum(int count) {
  return {workers(count), "optim.momentum=0.5"};
}

// How many workers hold this one's parameters, itself among them.
int holders(Learner& learner) {
  const auto own = std::as_bytes(learner.replica().params());
  const auto all = all_gather_bytes(learner.group(), own);
  return static_cast<int>(std::ranges::count_if(all, [&](const auto& other) {
    return other.size() == own.size() && std::memcmp(other.data(), own.data(), own.size()) == 0;
  }));
}

bool all_hold_the_same(Learner& learner) {
  return holders(learner) == learner.group().size();
}

// After how many steps the strategy said that there is one model; so on every worker.
std::vector<std::int64_t> agreements(World& world, const Job& job) {
  std::vector<std::int64_t> found;
  world.run(job.placement().ranks(), [&](Transport& transport) {
    Learner learner(transport, job);
    BatchSource source(job, transport.rank());
    Batch batch;
    std::vector<std::int64_t> own;
    for (std::int64_t step = 0; step < job.plan().steps(); ++step) {
      source.fill(step, batch);
      learner.learn(step, step, batch, step % 4 == 0);  // meetings change nothing
      EXPECT_EQ(learner.consistent(), all_hold_the_same(learner)) << step;
      if (learner.consistent()) own.push_back(step + 1);
    }
    learner.finish(job.plan().steps());
    EXPECT_TRUE(learner.consistent() && all_hold_the_same(learner));
    if (transport.rank() == 0) found = own;
  });
  return found;
}

// Of the steps up to `steps`, where blocks of the lengths that `length` says end.
std::vector<std::int64_t> ends_of_blocks(std::int64_t steps,
                                         const std::function<std::int64_t(std::int64_t)>& length) {
  std::vector<std::int64_t> ends;
  for (std::int64_t at = length(0); at <= steps; at += length(at)) ends.push_back(at);
  return ends;
}

TEST(AgreementLaws, ThereIsOneModelExactlyWhereTheStrategySaysSo) {
  for (const int count : ranks_under_test({2, 3, 4})) {
    for (const Settings& settings : local_family(count)) {
      SCOPED_TRACE(name_of(settings));
      agreements(*world_under_test(), quadratic_job(together(momentum(count), settings)));
    }
  }
}

TEST(AgreementLaws, BlocksAreAsLongAsTheStrategySays) {
  const auto world = world_with_room_for(4);
  const auto expect = [&](const Settings& settings,
                          const std::function<std::int64_t(std::int64_t)>& length) {
    const Job job = quadratic_job(together({workers(4), "train.epochs=3"}, settings));
    const auto found = agreements(*world, job);
    if (world->leads()) {
      EXPECT_EQ(found, ends_of_blocks(job.plan().steps(), length)) << name_of(settings);
    }
  };
  ASSERT_EQ(quadratic_job({workers(4), "train.epochs=3"}).plan().steps(), 21);
  expect({"sync.name=local", "sync.period=4"}, [](std::int64_t) { return 4; });
  expect({"sync.name=block-momentum", "sync.period=5"}, [](std::int64_t) { return 5; });
  expect({"sync.name=one-shot"}, [](std::int64_t) { return 1000; });
  expect({"sync.name=households", "sync.world_period=6"}, [](std::int64_t) { return 6; });
  expect({"sync.name=post-local", "sync.switch=0.5", "sync.period=4"},
         [](std::int64_t first) { return first < 11 ? 1 : 4; });  // 10.5, rounded
  expect({"sync.name=warm-local", "sync.period=8"}, [](std::int64_t first) {
    return warm_period(Growth::kGeometric, static_cast<double>(first) / 21, 8);
  });
}

TEST(AgreementLaws, HouseholdsAndNeighbourhoodsAgreeInTheirTurn) {
  const auto world = world_with_room_for(4);
  // After each step of a block: how many hold the same parameters.
  const auto expect = [&](const Settings& settings, const std::vector<int>& together_after) {
    const Job job = quadratic_job(
        together({workers(4), "sync.name=households", "sync.world_period=6"}, settings));
    world->run(4, [&](Transport& transport) {
      Learner learner(transport, job);
      BatchSource source(job, transport.rank());
      Batch batch;
      for (std::size_t step = 0; step < 2 * together_after.size(); ++step) {
        const auto index = static_cast<std::int64_t>(step);
        source.fill(index, batch);
        learner.learn(index, index, batch, false);
        EXPECT_EQ(holders(learner), together_after[step % together_after.size()]) << step;
      }
    });
  };
  expect({}, {2, 2, 2, 2, 2, 4});
  expect({"sync.household_period=2"}, {1, 2, 1, 2, 1, 4});
  expect({"sync.household_period=4"}, {1, 1, 1, 2, 1, 4});
  const Settings around{"sync.households=4", "sync.neighbourhoods=2"};
  expect(together(around, {"sync.neighbourhood_period=3"}), {1, 1, 2, 1, 1, 4});
  expect(together(around, {"sync.neighbourhood_period=4"}), {1, 1, 1, 2, 1, 4});
}

// The loss of the quadratic falls to that of its noise, so blocks get ever shorter, by the root of
// the loss at first and by halves in the end.
TEST(AgreementLaws, AdaCommShortensItsBlocks) {
  const auto world = world_with_room_for(2);
  const Job job = quadratic_job({workers(2), "sync.name=adacomm", "sync.period=8",
                                 "sync.interval_steps=8", "train.epochs=6"});
  const auto ends = agreements(*world, job);
  if (!world->leads()) return;
  ASSERT_GE(ends.size(), 4u);
  EXPECT_EQ(ends[0], 8);
  EXPECT_EQ(ends[1], 16);  // the first interval measures
  for (std::size_t i = 2; i < ends.size(); ++i) {
    EXPECT_LE(ends[i] - ends[i - 1], ends[i - 1] - ends[i - 2]);
  }
  EXPECT_EQ(ends.back() - ends[ends.size() - 2], 1);
}

TEST(AgreementLaws, WhatIsSentGoesByTheNumberOfAverages) {
  const auto world = world_with_room_for(4);
  const auto sent = [&](const Settings& settings) {
    double bytes = 0;
    const Job job = quadratic_job(together({workers(4), "aggregate.algorithm=ring"}, settings));
    EXPECT_EQ(job.plan().steps(), 28);
    train_all(*world, job, [&](int rank, Learner& learner) {
      const WorkerLedger ledger = learner.ledger();
      if (rank == 0) bytes = ledger.sent;
    });
    return bytes;
  };
  const double every = sent({"sync.name=local", "sync.period=1"});
  const double rare = sent({"sync.name=local", "sync.period=7"});
  const double mixed = sent({"sync.name=households", "sync.world_period=7"});
  const double alone = sent({"sync.name=one-shot"});
  if (!world->leads()) return;
  EXPECT_EQ(rare * 7, every);
  EXPECT_LT(rare, mixed);
  EXPECT_LT(mixed, every);
  EXPECT_EQ(alone, 0);
}

// Trains to step `cut`, copies the state of every worker, and goes on with fresh ones.
std::vector<Weights> train_with_a_break(World& world, const Job& job, std::int64_t cut) {
  const auto ranks = static_cast<std::size_t>(job.placement().ranks());
  std::vector<std::unique_ptr<StateStore>> saved(ranks);
  std::vector<Weights> all(ranks);
  const auto sitting = [&](std::int64_t from, std::int64_t until) {
    world.run(job.placement().ranks(), [&](Transport& transport) {
      const auto rank = static_cast<std::size_t>(transport.rank());
      Learner learner(transport, job);
      const ShowState show = [&](StateVisitor& visitor) { learner.state(visitor); };
      if (saved[rank]) saved[rank]->restore(show);
      learner.replica().apply_update();
      learner.start();
      BatchSource source(job, transport.rank());
      std::int64_t own = from;
      train_until(learner, source, from, until, own);
      if (until == job.plan().steps()) learner.finish(until);
      learner.rest();
      saved[rank] = std::make_unique<StateStore>(show);
      const auto params = learner.replica().params();
      all[rank].assign(params.begin(), params.end());
    });
  };
  sitting(0, cut);
  sitting(cut, job.plan().steps());
  std::erase_if(all, [](const Weights& one) { return one.empty(); });  // ranks of other processes
  return all;
}

TEST(AgreementLaws, ABreakAnywhereChangesNoBit) {
  for (const int count : ranks_under_test({2, 3, 4})) {
    for (const Settings& settings : local_family(count)) {
      for (const char* optimizer : {"optim.name=sgd", "optim.name=adam"}) {
        Settings all{workers(count), optimizer};
        if (std::string(optimizer) == "optim.name=adam")
          all.push_back("train.epochs=2");
        else
          all.push_back("optim.momentum=0.5");
        const Job job = quadratic_job(together(all, settings));
        const auto straight = train_all(*world_under_test(), job);
        for (const std::int64_t cut : {1, 6, 11}) {
          EXPECT_EQ(train_with_a_break(*world_under_test(), job, cut), straight)
              << name_of(settings) << cut;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
