// Compiled for AVX2 and F16C; see half.h.
#include "lockstep/base/half.h"

#if defined(__AVX2__)
#include <immintrin.h>

#include <algorithm>

namespace lockstep {
namespace {

__m128i half_of(__m256 values) {
  const __m256 largest = _mm256_set1_ps(65504.0f);
  // The second operand is the result where one is NaN: it stays one.
  const __m256 bounded =
      _mm256_max_ps(_mm256_sub_ps(_mm256_setzero_ps(), largest), _mm256_min_ps(largest, values));
  return _mm256_cvtps_ph(bounded, _MM_FROUND_TO_NEAREST_INT);
}

__m128i brain_of(__m256 values) {
  const __m256i bits = _mm256_castps_si256(values);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff));
  const __m256i huge = _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7f7f7fff));
  const __m256i upper = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, bits, huge), 16);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(upper, upper), 0x08);
  return _mm256_castsi256_si128(packed);
}

__m256 float_of_half(__m128i halves) {
  return _mm256_cvtph_ps(halves);
}

__m256 float_of_brain(__m128i brains) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(brains), 16));
}

std::uint32_t largest_of(__m256i bits) {
  alignas(32) std::uint32_t words[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(words), bits);
  return *std::max_element(words, words + 8);
}

template <__m128i (*convert)(__m256)>
std::uint32_t narrow_loop(const float* from, std::size_t n, std::uint16_t* to) {
  const __m256i unsigned_bits = _mm256_set1_epi32(0x7fffffff);
  __m256i largest = _mm256_setzero_si256();
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256 values = _mm256_loadu_ps(from + i);
    const __m256i bits = _mm256_and_si256(_mm256_castps_si256(values), unsigned_bits);
    largest = _mm256_max_epu32(largest, bits);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), convert(values));
  }
  const auto tail = plain_half_kernels();
  const std::uint32_t rest =
      (convert == half_of ? tail.to_half : tail.to_brain)(from + i, n - i, to + i);
  return std::max(largest_of(largest), rest);
}

template <__m256 (*convert)(__m128i), bool adds>
void widen_loop(const std::uint16_t* from, std::size_t n, float scale, float* to) {
  const __m256 factor = _mm256_set1_ps(scale);
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    __m256 values = convert(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    if (adds) values = _mm256_add_ps(_mm256_loadu_ps(to + i), _mm256_mul_ps(factor, values));
    _mm256_storeu_ps(to + i, values);
  }
  const auto& tail = plain_half_kernels();
  constexpr bool half = convert == float_of_half;
  if (adds) {
    (half ? tail.add_half : tail.add_brain)(from + i, n - i, scale, to + i);
  } else {
    (half ? tail.from_half : tail.from_brain)(from + i, n - i, to + i);
  }
}

template <__m256 (*convert)(__m128i)>
void plain_widen(const std::uint16_t* from, std::size_t n, float* to) {
  widen_loop<convert, false>(from, n, 1, to);
}

}  // namespace

const HalfKernels& avx2_half_kernels() {
  static constexpr HalfKernels kKernels{narrow_loop<half_of>,
                                        narrow_loop<brain_of>,
                                        plain_widen<float_of_half>,
                                        plain_widen<float_of_brain>,
                                        widen_loop<float_of_half, true>,
                                        widen_loop<float_of_brain, true>};
  return kKernels;
}

}  // namespace lockstep
#endif
