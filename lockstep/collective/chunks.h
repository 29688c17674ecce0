// Cutting a vector into nearly equal, consecutive chunks. Pure arithmetic.
#pragma once

#include "lockstep/base/range.h"

namespace lockstep {

// Chunk `index` of `count` of n elements: sizes differ by at most one, larger ones first; some are
// empty when n < count.
constexpr Range chunk(std::size_t n, int count, int index) {
  const auto parts = static_cast<std::size_t>(count), i = static_cast<std::size_t>(index);
  const std::size_t base = n / parts, larger = n % parts;
  return {i * base + (i < larger ? i : larger), base + (i < larger ? 1 : 0)};
}

// Chunks first … last−1 together.
constexpr Range chunks(std::size_t n, int count, int first, int last) {
  const std::size_t begin = first < count ? chunk(n, count, first).begin : n;
  const std::size_t end = last < count ? chunk(n, count, last).begin : n;
  return {begin, end - begin};
}

// As chunk(), but borders fall on multiples of `grain`: slices that share no cache line.
constexpr Range grained_chunk(std::size_t n, std::size_t grain, int count, int index) {
  const Range grains = chunk((n + grain - 1) / grain, count, index);
  const std::size_t begin = grains.begin * grain < n ? grains.begin * grain : n;
  const std::size_t end = grains.end() * grain < n ? grains.end() * grain : n;
  return {begin, end - begin};
}

}  // namespace lockstep
