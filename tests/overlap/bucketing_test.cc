// Plans of buckets, by the model of time in bucketing.h.
#include "lockstep/overlap/bucketing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"

namespace lockstep {
namespace {

using testing::ElementsAre;

Buckets plan(const std::string& name, const BackwardProfile& profile,
             const std::map<std::string, std::string>& settings = {}) {
  const auto& registry = Registry<Bucketing>::instance();
  Options options = registry.options(name);
  for (const auto& [key, value] : settings) options.set(key, value);
  return registry.make(name, options)->plan(profile);
}

BackwardProfile random_profile(std::size_t layers, std::uint64_t seed) {
  Random random(seed, "profile");
  BackwardProfile profile;
  double ready = 0;
  for (std::size_t i = 0; i < layers; ++i) {
    ready += random.uniform();
    profile.ready.push_back(ready);
    profile.bytes.push_back(static_cast<std::size_t>(random.uniform() * 1000));
  }
  profile.alpha = random.uniform() * random.uniform() * 3;
  profile.beta = random.uniform() * 2e-3;
  return profile;
}

// Of all ways to cut n layers.
double best_end(const BackwardProfile& profile) {
  const std::size_t n = profile.bytes.size();
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t cuts = 0; cuts < std::size_t{1} << (n - 1); ++cuts) {
    Buckets ends;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (cuts >> i & 1) ends.push_back(i + 1);
    }
    ends.push_back(n);
    best = std::min(best, predicted_end(profile, ends));
  }
  return best;
}

TEST(Bucketing, OfNoneIsOneAndOfWfbpEveryLayer) {
  const BackwardProfile profile{{400, 40, 4000}, {}, 0, 0};
  EXPECT_THAT(plan("none", profile), ElementsAre(3));
  EXPECT_THAT(plan("wfbp", profile), ElementsAre(1, 2, 3));
}

TEST(Bucketing, OfFusionHasTheThresholdAtLeastButTheLast) {
  const BackwardProfile profile{{400, 40, 4000, 100, 900, 24, 10}, {}, 0, 0};
  EXPECT_THAT(plan("fusion", profile, {{"threshold", "1K"}}), ElementsAre(3, 6, 7));
  EXPECT_THAT(plan("fusion", profile, {{"threshold", "1"}}), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(plan("fusion", profile, {{"threshold", "1M"}}), ElementsAre(7));
  EXPECT_THROW(plan("fusion", profile, {{"threshold", "much"}}), ConfigError);
}

TEST(Bucketing, OfMgWfbpIsTheBestOfAll) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const BackwardProfile profile = random_profile(1 + seed % 11, seed);
    const double end = predicted_end(profile, plan("mg-wfbp", profile));
    EXPECT_DOUBLE_EQ(end, best_end(profile)) << seed;
  }
}

TEST(Bucketing, OfMgWfbpIsNeverWorseThanTheOthers) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const BackwardProfile profile = random_profile(160, seed);
    const double end = predicted_end(profile, plan("mg-wfbp", profile));
    for (const char* other : {"none", "wfbp", "fusion"}) {
      EXPECT_LE(end, predicted_end(profile, plan(other, profile)) * (1 + 1e-12)) << other << seed;
    }
  }
}

TEST(Bucketing, OfMgWfbpFollowsTheStartUp) {
  BackwardProfile profile = random_profile(20, 7);
  profile.alpha = 0;
  EXPECT_DOUBLE_EQ(predicted_end(profile, plan("mg-wfbp", profile)),
                   predicted_end(profile, plan("wfbp", profile)));
  profile.alpha = 1e6;
  EXPECT_THAT(plan("mg-wfbp", profile), ElementsAre(20));
}

TEST(Bucketing, PartsCoverTheVectorFromItsEnd) {
  const std::vector<Layer> layers{
      {"a", 0, 5, {5}}, {"b", 5, 7, {7}}, {"c", 12, 1, {1}}, {"d", 13, 20, {20}}};
  EXPECT_THAT(profile_of(layers).bytes, ElementsAre(80, 4, 28, 20));
  const Buckets ends{1, 3, 4};
  EXPECT_THAT(parts_of(layers, ends), ElementsAre(Range{13, 20}, Range{5, 8}, Range{0, 5}));
}

}  // namespace
}  // namespace lockstep
