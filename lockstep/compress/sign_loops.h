// Values by their sign, a bit each; a part of kernel_loops.h.
#pragma once

#include "lockstep/compress/vector_loops.h"

namespace lockstep {
namespace {

// Bit i: is value i ≥ 0? So −0 is, and NaN is not.
inline unsigned signs_of(Floats values) {
#if defined(__AVX2__)
  return static_cast<unsigned>(
      _mm256_movemask_ps(_mm256_cmp_ps(values, _mm256_setzero_ps(), _CMP_GE_OQ)));
#else
  unsigned bits = 0;
  for (std::size_t i = 0; i < kLanes; ++i) bits |= (values[i] >= 0 ? 1u : 0u) << i;
  return bits;
#endif
}

SignSums pack_signs(const float* values, std::size_t n, std::byte* bits) {
  constexpr std::size_t kBlock = 4096;  // floats are added up over a block, blocks in double
  SignSums all;
  Words most{};
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, n);
    Floats plus{}, minus{};
    const auto take = [&](Floats value, unsigned mask) {
      most = larger(most, std::bit_cast<Words>(value) & kMagnitude);
      const Floats zero{};
      plus += value >= zero ? value : zero;
      minus += value >= zero ? zero : value;
      const unsigned set = signs_of(value) & mask;
      all.pluses += static_cast<std::size_t>(std::popcount(set));
      *bits++ = static_cast<std::byte>(set);
    };
    std::size_t i = begin;
    for (; i + kLanes <= end; i += kLanes) take(load<Floats>(values + i), 0xff);
    if (i < end) take(load_some(values + i, end - i), (1u << (end - i)) - 1);
    all.plus += sum_of_lanes(__builtin_convertvector(plus, Doubles));
    all.minus += sum_of_lanes(__builtin_convertvector(minus, Doubles));
  }
  all.largest = largest_lane(most);
  return all;
}

// Bit i: is value i > t?
inline unsigned bits_above(Floats values, float t) {
#if defined(__AVX2__)
  return static_cast<unsigned>(
      _mm256_movemask_ps(_mm256_cmp_ps(values, _mm256_set1_ps(t), _CMP_GT_OQ)));
#else
  unsigned bits = 0;
  for (std::size_t i = 0; i < kLanes; ++i) bits |= (values[i] > t ? 1u : 0u) << i;
  return bits;
#endif
}

Beyond pack_beyond(const float* values, std::size_t n, float t, std::byte* above,
                   std::byte* below) {
  std::size_t count = 0;
  Words most{};
  for (std::size_t i = 0; i < n; i += kLanes) {
    const Floats value = i + kLanes <= n ? load<Floats>(values + i) : load_some(values + i, n - i);
    most = larger(most, std::bit_cast<Words>(value) & kMagnitude);
    const unsigned up = bits_above(value, t), down = bits_above(-value, t);
    *above++ = static_cast<std::byte>(up);
    *below++ = static_cast<std::byte>(down);
    count += static_cast<std::size_t>(std::popcount(up | down));
  }
  return {count, largest_lane(most)};
}

void add_beyond(const std::byte* above, const std::byte* below, std::size_t n, float t,
                float* sum) {
  const Words places{1, 2, 4, 8, 16, 32, 64, 128};
  const Floats ups = Floats{} + t, zero{};
  for (std::size_t i = 0; i < n; i += kLanes) {
    const Words up = (Words{} + static_cast<std::uint32_t>(above[i / 8])) & places;
    const Words down = (Words{} + static_cast<std::uint32_t>(below[i / 8])) & places;
    const Floats change = (up == places ? ups : zero) - (down == places ? ups : zero);
    if (i + kLanes <= n) {
      store(sum + i, load<Floats>(sum + i) + change);
    } else {
      for (std::size_t k = 0; i + k < n; ++k) sum[i + k] += change[k];
    }
  }
}

void add_signs(const std::byte* bits, std::size_t n, float plus, float minus, float* sum) {
  const Words places{1, 2, 4, 8, 16, 32, 64, 128};
  const Floats ups = Floats{} + plus, downs = Floats{} + minus;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Words set = (Words{} + static_cast<std::uint32_t>(bits[i / 8])) & places;
    store(sum + i, load<Floats>(sum + i) + (set == places ? ups : downs));
  }
  for (; i < n; ++i) sum[i] += (static_cast<unsigned>(bits[i / 8]) >> (i % 8) & 1) ? plus : minus;
}

}  // namespace
}  // namespace lockstep
