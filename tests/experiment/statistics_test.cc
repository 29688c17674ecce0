// Against numbers that are known: a published comparison, textbook examples, and what R computes.
#include "lockstep/experiment/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep {
namespace {

TEST(Statistics, MeanAndBothDeviations) {
  const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};
  const Spread spread = spread_of(values);
  EXPECT_EQ(spread.count, 8u);
  EXPECT_DOUBLE_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(spread.population_std(), 2);
  EXPECT_NEAR(spread.sample_std, 2.13809, 1e-5);
  EXPECT_EQ(spread.least, 2);
  EXPECT_EQ(spread.most, 9);
}

// Full overlap against disjoint shards at batch 4096: published with p = 0.059.
TEST(Statistics, APublishedComparisonComesOut) {
  const Spread full = published_spread(5, 84.44, 0.71, Deviation::kPopulation);
  const Spread disjoint = published_spread(5, 83.60, 0.63, Deviation::kPopulation);
  const TestResult test = t_test(full, disjoint, MeanTest::kWelch, Tail::kGreater);
  EXPECT_NEAR(test.p, 0.058, 0.0006);
  EXPECT_NEAR(full.population_std(), 0.71, 1e-12);
}

// extra sleep, R's data set "sleep": t.test(extra ~ group) and with var.equal = TRUE.
TEST(Statistics, StudentsSleepData) {
  const std::vector<double> one{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> two{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const TestResult welch = t_test(spread_of(one), spread_of(two), MeanTest::kWelch, Tail::kTwo);
  EXPECT_NEAR(welch.t, -1.8608, 5e-5);
  EXPECT_NEAR(welch.degrees, 17.776, 5e-4);
  EXPECT_NEAR(welch.p, 0.07939, 5e-6);
  const TestResult student = t_test(spread_of(one), spread_of(two), MeanTest::kStudent, Tail::kTwo);
  EXPECT_EQ(student.degrees, 18);
  EXPECT_NEAR(student.p, 0.07919, 5e-6);
  EXPECT_NEAR(t_test(spread_of(one), spread_of(two), MeanTest::kWelch, Tail::kLess).p, 0.07939 / 2,
              5e-6);
  EXPECT_NEAR(t_test(spread_of(one), spread_of(two), MeanTest::kWelch, Tail::kGreater).p,
              1 - 0.07939 / 2, 5e-6);
  const Interval interval = confidence_interval(spread_of(one), 0.95);
  EXPECT_NEAR(interval.low, -0.5297804, 1e-6);
  EXPECT_NEAR(interval.high, 2.0297804, 1e-6);
}

TEST(Statistics, TooFewRunsProveNothing) {
  const std::vector<double> one{1.0}, two{1.0, 2.0};
  EXPECT_FALSE(t_test(spread_of(one), spread_of(two), MeanTest::kWelch, Tail::kTwo).possible);
  EXPECT_EQ(effect_size(spread_of(one), spread_of(two)), 0);
  EXPECT_EQ(confidence_interval(spread_of(one), 0.9).high, 1.0);
  EXPECT_EQ(spread_of({}).count, 0u);
}

TEST(Statistics, RunsWithoutSpreadAreEqualOrCertainlyDifferent) {
  const std::vector<double> ones{1, 1, 1}, twos{2, 2, 2};
  EXPECT_EQ(t_test(spread_of(ones), spread_of(ones), MeanTest::kWelch, Tail::kTwo).p, 1);
  EXPECT_EQ(t_test(spread_of(ones), spread_of(twos), MeanTest::kWelch, Tail::kTwo).p, 0);
  EXPECT_EQ(t_test(spread_of(ones), spread_of(twos), MeanTest::kStudent, Tail::kLess).p, 0);
}

// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm").
TEST(Statistics, HolmsCorrection) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005};
  const std::vector<double> expected{0.03, 0.06, 0.06, 0.02};
  const auto corrected = holm(p);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(corrected[i], expected[i], 1e-12);
  EXPECT_EQ(holm(std::vector<double>{0.9, 0.8}), (std::vector<double>{1, 1}));
}

TEST(Statistics, EffectsAreInDeviations) {
  const std::vector<double> a{4, 5, 6}, b{2, 3, 4};  // one deviation is 1
  EXPECT_NEAR(effect_size(spread_of(a), spread_of(b)), 2 * (1 - 3.0 / 15), 1e-12);
}

}  // namespace
}  // namespace lockstep
