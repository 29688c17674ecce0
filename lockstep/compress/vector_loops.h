// Vectors of eight, and the loops that look at all values alike; a part of kernel_loops.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lockstep/compress/kernels.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace lockstep {
namespace {

constexpr std::size_t kLanes = 8;
typedef float Floats __attribute__((vector_size(32)));
typedef double Doubles __attribute__((vector_size(64)));
typedef std::int32_t Ints __attribute__((vector_size(32)));
typedef std::uint32_t Words __attribute__((vector_size(32)));

constexpr std::uint32_t kMagnitude = 0x7fffffff;

template <typename V>
inline V load(const void* from) {
  V value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline void store(float* to, Floats value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename V>
inline auto sum_of_lanes(V v) {
  return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

inline Words larger(Words a, Words b) {
  return a > b ? a : b;
}

inline std::uint32_t largest_lane(Words v) {
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < kLanes; ++i) most = std::max(most, v[i]);
  return most;
}

// The last values, fewer than eight, with zeros behind them.
inline Floats load_some(const float* from, std::size_t count) {
  Floats value{};
  if (count > 0) std::memcpy(&value, from, count * sizeof(float));
  return value;
}

std::uint32_t largest(const float* values, std::size_t n) {
  Words most{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) most = larger(most, load<Words>(values + i) & kMagnitude);
  const Floats rest = load_some(values + i, n - i);
  return largest_lane(larger(most, std::bit_cast<Words>(rest) & kMagnitude));
}

// Few of them in float, where that is exact enough; else in double: neither the square of 1e-30 nor
// that of 1e30 is a float.
SquareSum squares(const float* values, std::size_t n) {
  constexpr std::size_t kFew = 4096;
  Words most{};
  Doubles sum{};
  if (n <= kFew) {
    Floats sums[2] = {};
    std::size_t i = 0;
    for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
      for (std::size_t k = 0; k < 2; ++k) {
        const Floats value = load<Floats>(values + i + k * kLanes);
        most = larger(most, std::bit_cast<Words>(value) & kMagnitude);
        sums[k] += value * value;
      }
    }
    for (; i < n; i += kLanes) {
      const Floats value = load_some(values + i, std::min(kLanes, n - i));
      most = larger(most, std::bit_cast<Words>(value) & kMagnitude);
      sums[0] += value * value;
    }
    const float total = sum_of_lanes(sums[0] + sums[1]);
    if (total > 1e-20f && total < 1e30f) return {total, largest_lane(most)};
  }
  const auto take = [&](Floats value) {
    most = larger(most, std::bit_cast<Words>(value) & kMagnitude);
    const Doubles wide = __builtin_convertvector(value, Doubles);
    sum += wide * wide;
  };
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) take(load<Floats>(values + i));
  take(load_some(values + i, n - i));
  return {sum_of_lanes(sum), largest_lane(most)};
}

void accumulate(const float* values, std::size_t n, float* sum) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += values[i];
}

float dot(const float* a, const float* b, std::size_t n) {
  Floats sums[4] = {};  // as many chains of additions
  std::size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (std::size_t k = 0; k < 4; ++k) {
      sums[k] += load<Floats>(a + i + k * kLanes) * load<Floats>(b + i + k * kLanes);
    }
  }
  for (; i + kLanes <= n; i += kLanes) sums[0] += load<Floats>(a + i) * load<Floats>(b + i);
  sums[1] += load_some(a + i, n - i) * load_some(b + i, n - i);
  return sum_of_lanes((sums[0] + sums[2]) + (sums[1] + sums[3]));
}

void add_scaled(const float* values, std::size_t n, float scale, float* sum) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += scale * values[i];
}

}  // namespace
}  // namespace lockstep
