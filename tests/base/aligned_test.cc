#include "lockstep/base/aligned.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>

namespace lockstep {
namespace {

template <typename T>
bool aligned(const AlignedVector<T>& items) {
  return reinterpret_cast<std::uintptr_t>(items.data()) % kAlignment == 0;
}

TEST(AlignedVector, StartsOnACacheLineWhateverItsSize) {
  for (std::size_t size = 1; size < 5000; size = size * 3 / 2 + 1) {
    const AlignedVector<float> floats(size);
    const AlignedVector<char> bytes(size);
    EXPECT_TRUE(aligned(floats)) << size;
    EXPECT_TRUE(aligned(bytes)) << size;
  }
}

TEST(AlignedVector, StaysAlignedAsItGrows) {
  AlignedVector<char> bytes;
  for (int i = 0; i < 1000; ++i) {
    bytes.push_back(static_cast<char>(i));
    ASSERT_TRUE(aligned(bytes));
  }
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(bytes[static_cast<std::size_t>(i)], static_cast<char>(i));
}

TEST(AlignedVector, BehavesAsAVector) {
  const AlignedVector<std::string> words = {"a", "b"};
  AlignedVector<std::string> copy = words;
  EXPECT_EQ(copy, words);
  const std::string* data = copy.data();
  const AlignedVector<std::string> moved = std::move(copy);
  EXPECT_EQ(moved.data(), data) << "moving hands the memory over";
  EXPECT_EQ(moved, words);
}

TEST(AlignedAllocator, RefusesACountWhoseBytesOverflow) {
  AlignedAllocator<double> allocator;
  EXPECT_THROW(allocator.allocate(std::numeric_limits<std::size_t>::max() / 4),
               std::bad_array_new_length);
}

TEST(AlignedAllocator, EveryOneMayFreeForEveryOther) {
  EXPECT_TRUE(AlignedAllocator<int>() == AlignedAllocator<int>());
  EXPECT_TRUE(AlignedAllocator<int>() == AlignedAllocator<double>());
  AlignedAllocator<int> from = AlignedAllocator<double>();
  from.deallocate(AlignedAllocator<int>().allocate(3), 3);
}

// Vectors that are worked on together must not lie at the same place of their pages.
TEST(AlignedVector, LargeOnesBeginAtDifferentPlacesOfAPage) {
  std::set<std::uintptr_t> places;
  std::vector<AlignedVector<float>> all;
  for (int i = 0; i < 16; ++i) {
    all.emplace_back(std::size_t{1} << 17, static_cast<float>(i));
    const auto address = reinterpret_cast<std::uintptr_t>(all.back().data());
    EXPECT_EQ(address % kAlignment, 0u);
    places.insert(address % 4096);
  }
  EXPECT_EQ(places.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].front(), static_cast<float>(i));
    EXPECT_EQ(all[i].back(), static_cast<float>(i));
  }
}

}  // namespace
}  // namespace lockstep
