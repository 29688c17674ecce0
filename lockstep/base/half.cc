#include "lockstep/base/half.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lockstep {
namespace {

constexpr float kLargestHalf = 65504.0f;

std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > kNotFinite) return sign | 0x7e00;  // NaN
  const float size = std::min(std::bit_cast<float>(magnitude), kLargestHalf);
  if (size < 0x1p-14f) {  // has no leading one: a multiple of 2⁻²⁴
    return sign | static_cast<std::uint16_t>(std::nearbyintf(size * 0x1p24f));
  }
  const auto rebased = std::bit_cast<std::uint32_t>(size) - (112u << 23);
  return sign | static_cast<std::uint16_t>((rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}

float float_of(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 0) {
    const float size = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(size));
  }
  if (exponent == 31) {
    // A processor makes every NaN a quiet one.
    const std::uint32_t quiet = fraction == 0 ? 0 : 0x400000;
    return std::bit_cast<float>(sign | kNotFinite | quiet | fraction << 13);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

// Does not overflow to infinity either: the largest bf16 stays below it.
std::uint16_t brain_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) >= 0x7f7f8000) return static_cast<std::uint16_t>(bits >> 16);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float float_of_brain(std::uint16_t brain) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(brain) << 16);
}

template <std::uint16_t (*convert)(float)>
std::uint32_t narrow_loop(const float* from, std::size_t n, std::uint16_t* to) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(from[i]) & 0x7fffffff);
    to[i] = convert(from[i]);
  }
  return largest;
}

template <float (*convert)(std::uint16_t)>
void widen_loop(const std::uint16_t* from, std::size_t n, float* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = convert(from[i]);
}

template <float (*convert)(std::uint16_t)>
void add_loop(const std::uint16_t* from, std::size_t n, float scale, float* sum) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += scale * convert(from[i]);
}

}  // namespace

const HalfKernels& plain_half_kernels() {
  static constexpr HalfKernels kKernels{narrow_loop<half_of>, narrow_loop<brain_of>,
                                        widen_loop<float_of>, widen_loop<float_of_brain>,
                                        add_loop<float_of>,   add_loop<float_of_brain>};
  return kKernels;
}

const HalfKernels& half_kernels() {
#if defined(__x86_64__)
  // Whatever has AVX2 has F16C, which not every compiler can ask for.
  static const bool fast = __builtin_cpu_supports("avx2");
  if (fast) return avx2_half_kernels();
#endif
  return plain_half_kernels();
}

std::uint32_t narrow(Number number, const float* from, std::size_t n, std::uint16_t* to) {
  const HalfKernels& kernels = half_kernels();
  return (number == Number::kHalf ? kernels.to_half : kernels.to_brain)(from, n, to);
}

void widen(Number number, const std::uint16_t* from, std::size_t n, float* to) {
  const HalfKernels& kernels = half_kernels();
  (number == Number::kHalf ? kernels.from_half : kernels.from_brain)(from, n, to);
}

void add_widened(Number number, const std::uint16_t* from, std::size_t n, float scale, float* sum) {
  const HalfKernels& kernels = half_kernels();
  (number == Number::kHalf ? kernels.add_half : kernels.add_brain)(from, n, scale, sum);
}

void round_values(Number number, float* values, std::size_t n) {
  constexpr std::size_t kBlock = 1024;
  std::uint16_t block[kBlock];
  for (std::size_t at = 0; at < n; at += kBlock) {
    const std::size_t count = std::min(kBlock, n - at);
    narrow(number, values + at, count, block);
    widen(number, block, count, values + at);
  }
}

}  // namespace lockstep
