#include "lockstep/base/random.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

std::vector<std::uint64_t> first(Random random, int count) {
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(random.next());
  return numbers;
}

// Sum of (seen − expected)² / expected: about bins − 1, with deviation √(2 (bins − 1)).
double chi_square(const std::vector<int>& seen) {
  const double expected =
      std::accumulate(seen.begin(), seen.end(), 0.0) / static_cast<double>(seen.size());
  double sum = 0;
  for (const int count : seen) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

double far_chi_square(std::size_t bins) {
  const auto freedom = static_cast<double>(bins - 1);
  return freedom + 4 * std::sqrt(2 * freedom);
}

// Random123's own answer for counter 0 and key 0. The purpose is the text that hashes to zero.
TEST(Random, GivesTheKnownAnswerOfPhilox) {
  const std::string zero = "\xd5\x6b\xb9\x53\x42\x87\x08\x36";
  ASSERT_EQ(stable_hash(zero), 0u);
  EXPECT_EQ(first(Random(0, zero), 4),
            (std::vector<std::uint64_t>{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                                        0x7e68b68aec7ba23b}));
}

// Where seed, purpose, worker and step stand in key and counter: saved runs depend on it.
TEST(Random, IsPhiloxOfSeedPurposeWorkerAndStep) {
  const std::uint64_t seed = 11, worker = 5, step = 1234;
  std::vector<std::uint64_t> expected;
  for (std::uint64_t block = 0; block < 3; ++block) {
    const auto numbers =
        r123::Philox4x64{}({{block, worker, step, 0}}, {{seed, stable_hash("shuffle")}});
    expected.insert(expected.end(), numbers.begin(), numbers.end());
  }
  EXPECT_EQ(first(Random(seed, "shuffle", worker, step), 12), expected);
}

TEST(Random, StreamsThatDifferInOneThingShareNoNumber) {
  std::set<std::uint64_t> seen;
  std::size_t drawn = 0;
  for (const std::uint64_t seed : {0, 1}) {
    for (const char* purpose : {"shuffle", "dropout", ""}) {
      for (const std::uint64_t worker : {0, 1, 2}) {
        for (const std::uint64_t step : {0, 1, 2}) {
          for (const auto number : first(Random(seed, purpose, worker, step), 100)) {
            seen.insert(number);
            ++drawn;
          }
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), drawn);
}

TEST(Random, AStreamDoesNotDependOnOthersBeingDrawnFrom) {
  Random alone(7, "a"), beside(7, "a"), other(7, "b");
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j < i % 7; ++j) other.next();
    EXPECT_EQ(alone.next(), beside.next());
  }
}

TEST(Random, NeighbouringWorkersAreUncorrelated) {
  constexpr int kCount = 20000;
  for (std::uint64_t worker = 0; worker < 4; ++worker) {
    Random a(3, "x", worker), b(3, "x", worker + 1);
    double sum = 0;
    for (int i = 0; i < kCount; ++i) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
    // The correlation of independent numbers has deviation 1/√n.
    EXPECT_LT(std::abs(sum / kCount * 12), 4 / std::sqrt(kCount)) << worker;
  }
}

TEST(Random, UniformFillsTheUnitIntervalEvenly) {
  Random random(1, "uniform");
  std::vector<int> seen(64);
  for (int i = 0; i < 64000; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ++seen[static_cast<std::size_t>(value * 64)];
  }
  EXPECT_LT(chi_square(seen), far_chi_square(seen.size()));
}

TEST(Random, UniformStaysBelowItsUpperEnd) {
  Random random(1, "narrow");
  // Two neighbouring doubles: half of the sums round to the upper one.
  const double low = 1, high = std::nextafter(1.0, 2.0);
  for (int i = 0; i < 100; ++i) {
    const double value = random.uniform(low, high);
    ASSERT_GE(value, low);
    ASSERT_LT(value, high);
  }
  EXPECT_EQ(random.uniform(2, 2), 2);
}

TEST(Random, BelowIsUnbiased) {
  for (const std::uint64_t bound : {2, 3, 10, 97}) {
    Random random(2, "below", bound);
    std::vector<int> seen(bound);
    for (int i = 0; i < 20000; ++i) ++seen.at(random.below(bound));
    EXPECT_LT(chi_square(seen), far_chi_square(bound)) << bound;
  }
}

// Below 3·2⁶², the plain remainder of a 64-bit number would fall into the first third twice as
// often as into each of the others.
TEST(Random, BelowIsUnbiasedWhereRemaindersAreNot) {
  const std::uint64_t third = std::uint64_t{1} << 62;
  Random random(2, "large");
  std::vector<int> seen(3);
  for (int i = 0; i < 30000; ++i) ++seen.at(random.below(3 * third) / third);
  EXPECT_LT(chi_square(seen), far_chi_square(3));
}

TEST(Random, BelowOneIsZeroAndBelowZeroIsOurBug) {
  Random random(0, "x");
  EXPECT_EQ(random.below(1), 0u);
  EXPECT_THROW(random.below(0), InternalError);
}

TEST(Random, NormalHasTheMomentsOfANormal) {
  constexpr int kCount = 200000;
  Random random(4, "normal");
  double sum = 0, squares = 0, cubes = 0, fourths = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    cubes += x * x * x;
    fourths += x * x * x * x;
  }
  // Four deviations: the variances of x, x², x³ and x⁴ are 1, 2, 15 and 96.
  const double unit = 4 / std::sqrt(kCount);
  EXPECT_NEAR(sum / kCount, 0, unit);
  EXPECT_NEAR(squares / kCount, 1, unit * std::sqrt(2));
  EXPECT_NEAR(cubes / kCount, 0, unit * std::sqrt(15));
  EXPECT_NEAR(fourths / kCount, 3, unit * std::sqrt(96));
}

TEST(Random, ExponentialHasItsMeanAndTail) {
  constexpr int kCount = 100000;
  Random random(5, "exponential");
  double sum = 0;
  int beyond = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.exponential(2.5);
    ASSERT_GE(x, 0);
    sum += x;
    beyond += x > 2.5;
  }
  EXPECT_NEAR(sum / kCount, 2.5, 4 * 2.5 / std::sqrt(kCount));
  const double tail = std::exp(-1);
  EXPECT_NEAR(static_cast<double>(beyond) / kCount, tail,
              4 * std::sqrt(tail * (1 - tail) / kCount));
}

TEST(Random, ShuffleGivesEveryPermutationAsOften) {
  std::vector<int> seen(24);
  Random random(6, "shuffle");
  for (int i = 0; i < 24000; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    random.shuffle(std::span<int>(items));
    int index = 0;  // of the permutation, in the factorial number system
    for (std::size_t a = 0; a < 4; ++a) {
      int smaller = 0;
      for (std::size_t b = a + 1; b < 4; ++b) smaller += items[b] < items[a];
      index = index * (4 - static_cast<int>(a)) + smaller;
    }
    ++seen.at(static_cast<std::size_t>(index));
    std::sort(items.begin(), items.end());
    ASSERT_EQ(items, (std::vector<int>{0, 1, 2, 3}));
  }
  EXPECT_LT(chi_square(seen), far_chi_square(24));
}

TEST(Random, ShuffleTakesNothingAndOne) {
  Random random(6, "shuffle");
  random.shuffle(std::span<int>());
  std::vector<int> one = {9};
  random.shuffle(std::span<int>(one));
  EXPECT_EQ(one.front(), 9);
}

TEST(Random, IsAStandardGenerator) {
  static_assert(std::uniform_random_bit_generator<Random>);
  Random random(8, "standard");
  std::uniform_int_distribution<int> die(1, 6);
  for (int i = 0; i < 100; ++i) {
    const int roll = die(random);
    EXPECT_TRUE(1 <= roll && roll <= 6);
  }
}

}  // namespace
}  // namespace lockstep
