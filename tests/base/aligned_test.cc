#include "lockstep/base/aligned.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
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

}  // namespace
}  // namespace lockstep
