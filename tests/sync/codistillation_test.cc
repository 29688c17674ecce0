// Laws of codistillation, on every world, with the linear model.
#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "tests/optim/memory_state.h"
#include "tests/sync/codistillation_runs.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Codistillation, OneGroupIsSynchronous) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : ranks_under_test({1, 2, 3, 4})) {
    const Outcome one =
        run(*world_under_test(), linear_job(three_directions(kSamples), codistilled(count, 1)));
    const Outcome synchronous =
        run(*threads, linear_job(three_directions(kSamples), {workers(count)}));
    for (const Weights& weights : one.finished) EXPECT_EQ(weights, synchronous.finished.front());
  }
}

// By the batch of a group, not of all.
constexpr const char* kScaled = "schedule.scale=linear";

// Every second sample: what a group of two has, when nothing is shuffled.
std::shared_ptr<const Dataset> share_of(int group) {
  const auto all = three_directions(kSamples);
  auto share = std::make_shared<Dataset>(*all);
  const auto& values = std::get<AlignedVector<float>>(all->values);
  AlignedVector<float> own;
  share->labels.clear();
  for (auto i = static_cast<std::size_t>(group); i < kSamples; i += 2) {
    own.insert(own.end(), {values[2 * i], values[2 * i + 1]});
    share->labels.push_back(all->labels[i]);
  }
  share->values = std::move(own);
  share->samples = share->first_test = share->labels.size();
  return share;
}

TEST(Codistillation, UntaughtGroupsTrainAsIfAlone) {
  const auto world = world_with_room_for(4);
  const auto threads = Registry<World>::instance().make("threads");
  std::vector<Weights> alone;
  for (const int group : {0, 1}) {
    const Job job = linear_job(share_of(group), {workers(2), "assign.shuffle=none", kScaled});
    alone.push_back(run(*threads, job).finished.front());
  }
  EXPECT_NE(alone[0], alone[1]);
  for (const char* untaught : {"sync.burn_in=1000", "sync.weight=0"}) {
    for (const char* via : {"aggregate.via=allreduce", "aggregate.via=server"}) {
      const Outcome here =
          run(*world, linear_job(three_directions(kSamples),
                                 codistilled(4, 2,
                                             {untaught, via, "assign.name=household-shards",
                                              "assign.shuffle=none", kScaled})));
      for (std::size_t i = 0; i < 4; ++i) {
        if (!here.before[i].empty()) {
          EXPECT_EQ(here.before[i], alone[i / 2]) << untaught << via;
        }
      }
      for (const Weights& weights : here.finished) EXPECT_EQ(weights, alone[0]) << "the first's";
    }
  }
}

TEST(Codistillation, EveryWorldComputesTheSameBits) {
  const auto threads = Registry<World>::instance().make("threads");
  for (const int count : ranks_under_test({2, 4})) {
    for (const int groups : {2, count}) {
      for (const char* topology : {"sync.topology=all", "sync.topology=ring"}) {
        const Job job = linear_job(
            three_directions(kSamples),
            codistilled(count, groups,
                        {topology, "sync.period=3", "sync.burn_in=0.25", "sync.temperature=2"}));
        const Outcome here = run(*world_under_test(), job), there = run(*threads, job);
        for (std::size_t i = 0; i < here.before.size(); ++i) {
          if (!here.before[i].empty()) {
            EXPECT_EQ(here.before[i], there.before[i]) << topology;
          }
        }
      }
    }
  }
}

TEST(Codistillation, MembersOfAGroupStayTheSame) {
  const auto threads = Registry<World>::instance().make("threads");
  const Outcome here =
      run(*threads, linear_job(three_directions(kSamples), codistilled(4, 2, {"sync.period=3"})));
  EXPECT_EQ(here.before[0], here.before[1]);
  EXPECT_EQ(here.before[2], here.before[3]);
  EXPECT_NE(here.before[0], here.before[2]);
}

TEST(Codistillation, TheFirstGroupsModelIsShownAndLeft) {
  const auto world = world_with_room_for(4);
  const Job job = linear_job(three_directions(kSamples), codistilled(4, 2, {"sync.period=3"}));
  std::vector<Weights> shown(4), own(4), kept(4);
  const auto finished = train_all(*world, job, [&](int rank, Learner& learner) {
    const auto at = static_cast<std::size_t>(rank);
    EXPECT_TRUE(learner.consistent());
    own[at] = weights_of(learner);
    learner.with_model([&] { shown[at] = weights_of(learner); });
    kept[at] = weights_of(learner);
  });
  std::erase_if(shown, [](const Weights& one) { return one.empty(); });
  EXPECT_EQ(shown, finished);
  EXPECT_EQ(kept, own);
  if (!own[0].empty()) {
    EXPECT_EQ(finished.front(), own[0]);
  }
}

TEST(Codistillation, ResumedIsNeverStopped) {
  const auto world = world_with_room_for(4);
  for (const char* topology : {"sync.topology=all", "sync.topology=ring"}) {
    const Job job = linear_job(three_directions(kSamples),
                               codistilled(4, 4, {topology, "sync.period=4", "sync.burn_in=5"}));
    const std::int64_t total = job.plan().steps(), stop = 11;  // teachers are two steps old
    world->run(4, [&](Transport& transport) {
      const auto train = [&](Learner& learner, std::int64_t from, std::int64_t until) {
        BatchSource source(job, transport.rank());
        std::int64_t own = from;
        train_until(learner, source, from, until, own);
      };
      Learner never_stopped(transport, job), stopped(transport, job), resumed(transport, job);
      train(never_stopped, 0, total);
      train(stopped, 0, stop);
      MemoryState state;
      stopped.state(state);
      state.restore();
      resumed.state(state);
      train(resumed, stop, total);
      EXPECT_EQ(weights_of(resumed), weights_of(never_stopped)) << topology;
    });
  }
}

TEST(Codistillation, BatchNormIsSharedWithinAGroupOnly) {
  const auto job = [](const Settings& more) {
    return linear_job(three_directions(kSamples), codistilled(4, 2, more));
  };
  EXPECT_EQ(job({"train.batch_norm=shared"}).statistics_workers(), 2);
  EXPECT_THAT(
      [&] {
        job({"train.batch_norm=shared", "train.batch_norm_workers=4"});
      },
      ThrowsMessage<ConfigError>(HasSubstr("must divide 2 workers of a group")));
}

TEST(Codistillation, WhatCannotBeIsRefused) {
  EXPECT_THAT([] { linear_job(three_directions(kSamples), codistilled(4, 3)); },
              ThrowsMessage<ConfigError>(HasSubstr("groups = 3 does not divide 4 workers")));
  const auto threads = Registry<World>::instance().make("threads");
  EXPECT_THAT([&] { train_quadratic(*threads, codistilled(2, 2)); },
              ThrowsMessage<ConfigError>(HasSubstr("cannot be a teacher")));
}

}  // namespace
}  // namespace lockstep
