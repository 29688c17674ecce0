#include "lockstep/sync/periods.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(WarmPeriod, GrowsFromOneToTheLongest) {
  for (const Growth growth : {Growth::kGeometric, Growth::kLinear}) {
    EXPECT_EQ(warm_period(growth, 0, 16), 1);
    EXPECT_EQ(warm_period(growth, 1, 16), 16);
    EXPECT_EQ(warm_period(growth, 0.7, 1), 1);
    for (int i = 0; i < 100; ++i) {
      EXPECT_LE(warm_period(growth, i / 100.0, 37), warm_period(growth, (i + 1) / 100.0, 37));
    }
  }
}

TEST(WarmPeriod, GrowsByFactorsOrByAmounts) {
  EXPECT_EQ(warm_period(Growth::kGeometric, 0.25, 16), 2);
  EXPECT_EQ(warm_period(Growth::kGeometric, 0.5, 16), 4);
  EXPECT_EQ(warm_period(Growth::kGeometric, 0.75, 16), 8);
  EXPECT_EQ(warm_period(Growth::kLinear, 0.2, 16), 4);
  EXPECT_EQ(warm_period(Growth::kLinear, 0.5, 17), 9);
}

TEST(AdaCommPeriod, GoesDownWithTheRootOfTheLoss) {
  EXPECT_EQ(adacomm_period(0.25, 1.0, 16, 16, 0.5), 8);
  EXPECT_EQ(adacomm_period(1.0, 4.0, 10, 10, 0.5), 5);
  EXPECT_EQ(adacomm_period(0.5, 1.0, 16, 16, 0.5), 12);  // ⌈11.3⌉
  EXPECT_EQ(adacomm_period(0.01, 1.0, 16, 12, 0.5), 2);  // ⌈1.6⌉
  EXPECT_EQ(adacomm_period(0.0, 1.0, 16, 12, 0.5), 1);   // never 0
}

TEST(AdaCommPeriod, IsHalvedWhereTheLossWouldNotShortenIt) {
  EXPECT_EQ(adacomm_period(1.0, 1.0, 16, 16, 0.5), 8);
  EXPECT_EQ(adacomm_period(4.0, 1.0, 16, 16, 0.5), 8);
  EXPECT_EQ(adacomm_period(0.25, 1.0, 16, 8, 0.5), 4);  // as long as before
  EXPECT_EQ(adacomm_period(1.0, 1.0, 16, 5, 0.5), 3);   // ⌈2.5⌉
  EXPECT_EQ(adacomm_period(1.0, 1.0, 16, 1, 0.5), 1);
  EXPECT_EQ(adacomm_period(1.0, 1.0, 16, 10, 0.25), 3);
  EXPECT_EQ(adacomm_period(1.0, 0.0, 16, 16, 0.5), 8);  // nothing to compare with
  EXPECT_EQ(adacomm_period(0.0, 0.0, 16, 16, 0.5), 8);
}

}  // namespace
}  // namespace lockstep
