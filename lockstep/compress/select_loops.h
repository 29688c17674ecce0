// Which values are large; a part of kernel_loops.h.
#pragma once

#include "lockstep/compress/vector_loops.h"

namespace lockstep {
namespace {

// NaN is above everything: whoever looks at what was found finds it.
inline unsigned above(Floats values, float threshold) {
#if defined(__AVX2__)
  const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), values);
  return static_cast<unsigned>(
      _mm256_movemask_ps(_mm256_cmp_ps(size, _mm256_set1_ps(threshold), _CMP_NLE_UQ)));
#else
  unsigned bits = 0;
  for (std::size_t i = 0; i < kLanes; ++i) {
    bits |= (__builtin_fabsf(values[i]) <= threshold ? 0u : 1u) << i;
  }
  return bits;
#endif
}

std::size_t select(const float* values, std::size_t& n, float threshold, std::uint32_t base,
                   std::uint32_t* places, std::size_t most) {
  std::size_t count = 0, i = 0;
  const auto take = [&](unsigned found) {
    for (; found != 0; found &= found - 1) {
      places[count++] = base + static_cast<std::uint32_t>(i) +
                        static_cast<std::uint32_t>(std::countr_zero(found));
    }
  };
  // Most groups of 32 have none.
  for (; i + 4 * kLanes <= n && count < most; i += kLanes) {
    const unsigned found = above(load<Floats>(values + i), threshold) |
                           above(load<Floats>(values + i + 8), threshold) << 8 |
                           above(load<Floats>(values + i + 16), threshold) << 16 |
                           above(load<Floats>(values + i + 24), threshold) << 24;
    if (found == 0) {
      i += 3 * kLanes;
    } else {
      take(found & 0xff);
    }
  }
  for (; i < n && count < most; i += kLanes) {
    const std::size_t some = std::min(kLanes, n - i);
    take(above(load_some(values + i, some), threshold) & ((1u << some) - 1));
  }
  n = std::min(i, n);
  return count;
}

}  // namespace
}  // namespace lockstep
