#include "lockstep/collective/chunks.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

static_assert(chunk(10, 4, 0) == Range{0, 3});
static_assert(chunk(10, 4, 3) == Range{8, 2});
static_assert(chunks(10, 4, 1, 3) == Range{3, 5});
static_assert(grained_chunk(100, 16, 4, 0) == Range{0, 32});

TEST(Chunks, CoverTheVectorInOrderWithoutGapOrOverlap) {
  for (const std::size_t n : {0u, 1u, 5u, 16u, 17u, 1000u}) {
    for (const int count : {1, 2, 3, 7, 16, 40}) {
      std::size_t at = 0, grained_at = 0, smallest = n + 1, largest = 0;
      for (int i = 0; i < count; ++i) {
        const Range plain = chunk(n, count, i), grained = grained_chunk(n, 16, count, i);
        EXPECT_EQ(plain.begin, at);
        at = plain.end();
        smallest = std::min(smallest, plain.size);
        largest = std::max(largest, plain.size);
        EXPECT_EQ(grained.begin, grained_at);
        grained_at = grained.end();
        EXPECT_TRUE(grained.end() % 16 == 0 || grained.end() == n);
      }
      EXPECT_EQ(at, n);
      EXPECT_EQ(grained_at, n);
      EXPECT_LE(largest - smallest, 1u);
    }
  }
}

}  // namespace
}  // namespace lockstep
