#include "lockstep/collective/reduce_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(ReduceOp, NamesGoThereAndBack) {
  for (const auto& name : reduce_op_names()) EXPECT_EQ(to_string(parse_reduce_op(name)), name);
}

TEST(ReduceOp, AnUnknownNameListsTheValidOnes) {
  try {
    parse_reduce_op("maximum");
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("\"maximum\""),
                                         testing::HasSubstr("sum, mean, max, min")));
  }
}

TEST(ReduceOp, CombinesElementByElementForEveryLength) {
  // Lengths around the width of vector instructions.
  for (const std::size_t n : {0u, 1u, 7u, 8u, 9u, 31u, 64u, 1000u}) {
    std::vector<float> a(n), b(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = std::sin(static_cast<float>(i));
      b[i] = std::cos(static_cast<float>(3 * i));
    }
    auto sum = a, most = a, least = a;
    combine(ReduceOp::kSum, sum, b);
    combine(ReduceOp::kMax, most, b);
    combine(ReduceOp::kMin, least, b);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(sum[i], a[i] + b[i]);
      EXPECT_EQ(most[i], std::max(a[i], b[i]));
      EXPECT_EQ(least[i], std::min(a[i], b[i]));
    }
  }
}

TEST(ReduceOp, ANaNOnEitherSideStays) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin}) {
    std::vector<float> into{kNaN, 1, 2};
    combine(op, into, std::vector<float>{1, kNaN, 3});
    EXPECT_TRUE(std::isnan(into[0]));
    EXPECT_TRUE(std::isnan(into[1]));
    EXPECT_FALSE(std::isnan(into[2]));
  }
}

TEST(ReduceOp, AMeanIsASumDividedOnce) {
  const Reduction mean = Reduction::over(ReduceOp::kMean, 3);
  EXPECT_EQ(mean.op, ReduceOp::kSum);
  std::vector<float> data{9, 3};
  finish(mean.undivided(), data);
  EXPECT_EQ(data, (std::vector<float>{9, 3}));
  finish(mean, data);
  EXPECT_EQ(data, (std::vector<float>{3, 1}));
  EXPECT_EQ(Reduction::over(ReduceOp::kMax, 3).divisor, 1);
}

}  // namespace
}  // namespace lockstep
