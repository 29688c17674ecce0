// label-skew and unequal: shards that differ on purpose.
#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/base/error.h"
#include "tests/assign/assigned.h"

namespace lockstep {
namespace {

// How far the shares of the classes on a worker are from those of the whole set: 0 alike, up to
// 1.8 with one class of ten only. The mean over the workers.
double skew(const Shards& shards) {
  double sum = 0;
  for (const auto& shard : shards.of) {
    std::vector<double> share(10);
    for (const SampleId sample : shard) {
      share[sample % 10] += 1.0 / static_cast<double>(shard.size());
    }
    for (const double s : share) sum += std::abs(s - 0.1) / static_cast<double>(shards.of.size());
  }
  return sum;
}

TEST(LabelSkew, GrowsAsAlphaFalls) {
  double before = 0;
  for (const char* alpha : {"1000", "10", "1", "0.1"}) {
    const double now = skew(assigned(*made("label-skew", {{"alpha", alpha}}), 10'000, {8, 1, 1}));
    EXPECT_GT(now, before) << alpha;
    before = now;
  }
  EXPECT_GT(before, 0.8);
  EXPECT_LT(skew(assigned(*made("label-skew", {{"alpha", "1000"}}), 10'000, {8, 1, 1})), 0.1);
}

TEST(LabelSkew, NeedsClasses) {
  const auto samples = first_samples(100);
  EXPECT_THROW(made("label-skew")->assign({samples, {}}, {4, 1, 1}, true, 1), ConfigError);
}

TEST(Unequal, SharesFollowTheWeights) {
  const Shards shards = assigned(*made("unequal", {{"weights", "1,2,0.5,4.5"}}), 8001, {4, 1, 1});
  EXPECT_NEAR(static_cast<double>(shards.of[0].size()), 1000, 2);
  EXPECT_NEAR(static_cast<double>(shards.of[1].size()), 2000, 2);
  EXPECT_NEAR(static_cast<double>(shards.of[2].size()), 500, 2);
  EXPECT_NEAR(static_cast<double>(shards.of[3].size()), 4500, 2);
}

TEST(Unequal, EqualWeightsAreDisjoint) {
  for (const int workers : {1, 3, 7, 16}) {
    EXPECT_EQ(assigned(*made("unequal"), 1000, {workers, 1, 1}).of,
              assigned(*made("disjoint"), 1000, {workers, 1, 1}).of);
  }
}

}  // namespace
}  // namespace lockstep
