// Compiled with -mavx2 -mfma where the compiler knows them (see lockstep/CMakeLists.txt). Raw
// pointers only: a template that others use too must not be compiled for this CPU alone.
#include <cstddef>

#include "lockstep/model/outer_product.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace lockstep {
namespace {

constexpr std::size_t kRows = OuterProduct::kRows, kColumns = OuterProduct::kColumns;

}  // namespace

// Sums over k of six values of A times 16 of B. The loops over rows must be unrolled, so that all
// twelve vectors of sums stay in registers.
void OuterProduct::make_tile(std::size_t k, const float* six, const float* panel, float* to,
                             std::size_t stride) {
  __m256 left[kRows], right[kRows];
#pragma GCC unroll 6
  for (std::size_t i = 0; i < kRows; ++i) left[i] = right[i] = _mm256_setzero_ps();
  for (std::size_t p = 0; p < k; ++p, six += kRows, panel += kColumns) {
    const __m256 first = _mm256_load_ps(panel), second = _mm256_load_ps(panel + 8);
#pragma GCC unroll 6
    for (std::size_t i = 0; i < kRows; ++i) {
      const __m256 value = _mm256_broadcast_ss(six + i);
      left[i] = _mm256_fmadd_ps(value, first, left[i]);
      right[i] = _mm256_fmadd_ps(value, second, right[i]);
    }
  }
#pragma GCC unroll 6
  for (std::size_t i = 0; i < kRows; ++i) {
    _mm256_storeu_ps(to + i * stride, left[i]);
    _mm256_storeu_ps(to + i * stride + 8, right[i]);
  }
}

bool OuterProduct::compiled() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

}  // namespace lockstep

#else

namespace lockstep {

void OuterProduct::make_tile(std::size_t, const float*, const float*, float*, std::size_t) {}

bool OuterProduct::compiled() {
  return false;
}

}  // namespace lockstep

#endif
