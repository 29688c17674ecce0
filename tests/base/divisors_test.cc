#include "lockstep/base/divisors.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Divisors, AreInOrderAndInWords) {
  EXPECT_EQ(divisors(12), (std::vector<int>{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(divisors(1), std::vector<int>{1});
  EXPECT_EQ(divisors_in_words(8), "1, 2, 4 or 8");
  EXPECT_EQ(divisors_in_words(7), "1 or 7");
  EXPECT_EQ(divisors_in_words(1), "1");
}

}  // namespace
}  // namespace lockstep
