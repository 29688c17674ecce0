#include "lockstep/assign/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lockstep/base/error.h"
#include "tests/assign/assigned.h"

namespace lockstep {
namespace {

using Ids = std::vector<SampleId>;

// Samples 1000, 1001, …: never mistaken for places.
Ids thousands(std::size_t count) {
  Ids samples = first_samples(count);
  for (SampleId& sample : samples) sample += 1000;
  return samples;
}

Sampler sampler(const std::string& name, std::size_t count, int workers, Sampling sampling,
                const Settings& settings = {}, std::uint64_t seed = 5) {
  const Ids samples = thousands(count);
  return {*made(name, settings), {samples, {}}, {workers, 1, 1}, sampling, seed};
}

const Sampling kEpoch, kOnce{Shuffle::kOnce, false, Scope::kLocal},
    kNone{Shuffle::kNone, false, Scope::kLocal}, kGlobal{Shuffle::kEpoch, false, Scope::kGlobal},
    kDrawn{Shuffle::kEpoch, true, Scope::kLocal};

Ids sorted(Ids ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

// What all workers see in a step.
Ids step_of_all(const Sampler& all, std::size_t batch, std::int64_t epoch, std::int64_t step) {
  const BatchPlan plan = all.plan(batch);
  Ids ids;
  for (int w = 0; w < all.workers(); ++w) {
    SampleStream stream(all, w);
    for (const SampleId id : stream.batch(plan, epoch, step)) ids.push_back(id);
  }
  return ids;
}

TEST(Sampler, TheBatchesOfAllAreTheBatchOfOne) {
  for (const Sampling& sampling : {kOnce, kNone, kGlobal}) {
    for (const std::size_t count : {96u, 97u, 101u, 107u}) {
      for (const int workers : {2, 3, 4}) {
        const Sampler many = sampler("disjoint", count, workers, sampling);
        const Sampler one = sampler("disjoint", count, 1, sampling);
        constexpr std::size_t kBatch = 8;
        const auto global = kBatch * static_cast<std::size_t>(workers);
        ASSERT_EQ(many.plan(kBatch).steps(), one.plan(global).steps());
        for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
          for (std::int64_t step = 0; step < one.plan(global).steps(); ++step) {
            const Ids alone = step_of_all(one, global, epoch, step);
            EXPECT_EQ(sorted(step_of_all(many, kBatch, epoch, step)), sorted(alone));
            EXPECT_EQ(many.plan(kBatch).global_size(step), alone.size());
          }
        }
      }
    }
  }
}

TEST(Sampler, WithoutShufflingTheOrderIsThatOfTheData) {
  const Sampler one = sampler("disjoint", 50, 1, kNone);
  EXPECT_EQ(one.order(0, 0), thousands(50));
  EXPECT_EQ(one.order(0, 7), thousands(50));
  EXPECT_EQ(step_of_all(sampler("disjoint", 50, 4, kNone), 2, 0, 1),
            (Ids{1008, 1012, 1009, 1013, 1010, 1014, 1011, 1015}));
  const Sampler full = sampler("full", 50, 4, kNone);
  for (int w = 0; w < 4; ++w) EXPECT_EQ(full.order(w, 3), thousands(50));
}

TEST(Sampler, LocalEpochsPutTheSameShardInANewOrder) {
  const Sampler all = sampler("disjoint", 200, 4, kEpoch);
  std::set<SampleId> seen;
  for (int w = 0; w < 4; ++w) {
    EXPECT_NE(all.order(w, 0), all.order(w, 1));
    EXPECT_EQ(sorted(all.order(w, 0)), sorted(all.order(w, 1)));
    EXPECT_EQ(all.order(w, 1), all.order(w, 1));
    for (const SampleId id : all.order(w, 0)) seen.insert(id);
  }
  EXPECT_EQ(seen.size(), 200u);
}

TEST(Sampler, OnceIsTheSameOrderInEveryEpoch) {
  for (const auto* name : {"disjoint", "full"}) {
    const Sampler all = sampler(name, 200, 4, kOnce);
    EXPECT_EQ(all.order(2, 0), all.order(2, 9));
    EXPECT_NE(all.order(2, 0), sorted(all.order(2, 0)));
  }
}

TEST(Sampler, GlobalEpochsMoveSamplesBetweenWorkersAndKeepThemDisjoint) {
  const Sampler all = sampler("disjoint", 200, 4, kGlobal);
  EXPECT_NE(sorted(all.order(0, 0)), sorted(all.order(0, 1)));
  for (const std::int64_t epoch : {0, 1, 2}) {
    std::set<SampleId> seen;
    for (int w = 0; w < 4; ++w) {
      for (const SampleId id : all.order(w, epoch)) seen.insert(id);
    }
    EXPECT_EQ(seen.size(), 200u);
  }
}

TEST(Sampler, WorkersWithTheSameSamplesSeeThemInDifferentOrders) {
  for (const Sampling& sampling : {kEpoch, kOnce, kGlobal}) {
    const Sampler full = sampler("full", 100, 3, sampling);
    EXPECT_NE(full.order(0, 0), full.order(1, 0));
    EXPECT_NE(full.order(1, 0), full.order(2, 0));
    EXPECT_EQ(sorted(full.order(0, 0)), sorted(full.order(1, 0)));
    const Sampler coarse = sampler("coarse", 100, 4, sampling, {{"copies", "2"}});
    EXPECT_NE(coarse.order(0, 0), coarse.order(2, 0));
    EXPECT_EQ(sorted(coarse.order(0, 0)), sorted(coarse.order(2, 0)));
  }
}

TEST(Sampler, WithReplacementSomeComeTwiceAndAllFromTheShard) {
  const Sampler drawn = sampler("disjoint", 400, 4, kDrawn);
  const Sampler shards = sampler("disjoint", 400, 4, kEpoch);
  const Ids order = drawn.order(1, 0);
  const Ids shard = sorted(shards.order(1, 0));
  EXPECT_EQ(order.size(), 100u);
  const std::set<SampleId> different(order.begin(), order.end());
  EXPECT_LT(different.size(), 80u);
  EXPECT_GT(different.size(), 45u);
  for (const SampleId id : different) {
    EXPECT_TRUE(std::binary_search(shard.begin(), shard.end(), id));
  }
  EXPECT_NE(order, drawn.order(1, 1));
}

TEST(Sampler, TheSeedDecides) {
  EXPECT_EQ(sampler("full", 100, 2, kEpoch, {}, 1).order(1, 4),
            sampler("full", 100, 2, kEpoch, {}, 1).order(1, 4));
  EXPECT_NE(sampler("full", 100, 2, kEpoch, {}, 1).order(1, 4),
            sampler("full", 100, 2, kEpoch, {}, 2).order(1, 4));
}

TEST(Sampler, AnyBatchCanBeHadDirectlyAndBatchesMayGrow) {
  const Sampler all = sampler("disjoint", 103, 2, kEpoch);
  SampleStream through(all, 1), direct(all, 1);
  const auto copy = [](std::span<const SampleId> ids) { return Ids(ids.begin(), ids.end()); };
  std::map<std::pair<int, int>, Ids> seen;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const BatchPlan plan = all.plan(static_cast<std::size_t>(4 << epoch));
    Ids whole;
    for (int step = 0; step < plan.steps(); ++step) {
      seen[{epoch, step}] = copy(through.batch(plan, epoch, step));
      for (const SampleId id : seen[{epoch, step}]) whole.push_back(id);
    }
    EXPECT_EQ(whole, all.order(1, epoch));
  }
  EXPECT_EQ(copy(direct.batch(all.plan(16), 2, 3)), (seen[{2, 3}]));
  EXPECT_EQ(copy(direct.batch(all.plan(8), 1, 0)), (seen[{1, 0}]));
}

TEST(Sampling, ComesFromOptionsAndRefusesContradictions) {
  Options options(sampling_options(), "assignment");
  EXPECT_EQ(Sampling::from(options).shuffle, Shuffle::kEpoch);
  options.set("scope", "global");
  EXPECT_EQ(Sampling::from(options).scope, Scope::kGlobal);
  options.set("shuffle", "none");
  EXPECT_THROW(Sampling::from(options), ConfigError);
  options.set("scope", "local");
  EXPECT_FALSE(Sampling::from(options).shuffled());
  options.set("replacement", "true");
  EXPECT_THROW(Sampling::from(options), ConfigError);
  EXPECT_THROW(options.set("shuffle", "sometimes"), ConfigError);
}

}  // namespace
}  // namespace lockstep
