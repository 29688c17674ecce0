// Floats as 16-bit numbers and back: IEEE half, and bf16, the upper half of a float. Rounded to
// nearest, ties to even; what a half cannot hold becomes its largest number, not infinity.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lockstep/base/number.h"

namespace lockstep {

struct HalfKernels {
  // Returns the largest of the values' bits without sign: from kNotFinite on one is not finite.
  std::uint32_t (*to_half)(const float* from, std::size_t n, std::uint16_t* to);
  std::uint32_t (*to_brain)(const float* from, std::size_t n, std::uint16_t* to);
  void (*from_half)(const std::uint16_t* from, std::size_t n, float* to);
  void (*from_brain)(const std::uint16_t* from, std::size_t n, float* to);
  // sum += scale · from
  void (*add_half)(const std::uint16_t* from, std::size_t n, float scale, float* sum);
  void (*add_brain)(const std::uint16_t* from, std::size_t n, float scale, float* sum);
};

inline constexpr std::uint32_t kNotFinite = 0x7f800000;

// All give the same bits. half_kernels() picks by what the CPU has.
const HalfKernels& half_kernels();
const HalfKernels& plain_half_kernels();
const HalfKernels& avx2_half_kernels();  // only where the CPU has AVX2 and F16C

// The same by number, which is not kFloat.
std::uint32_t narrow(Number number, const float* from, std::size_t n, std::uint16_t* to);
void widen(Number number, const std::uint16_t* from, std::size_t n, float* to);
void add_widened(Number number, const std::uint16_t* from, std::size_t n, float scale, float* sum);
// To what would come out at the other end.
void round_values(Number number, float* values, std::size_t n);

}  // namespace lockstep
