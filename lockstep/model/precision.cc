#include "lockstep/model/precision.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep {
namespace {

constexpr std::array<std::pair<std::string_view, Precision>, 3> kNames{
    {{"float", Precision::kFloat}, {"bf16", Precision::kBf16}, {"fp16", Precision::kFp16}}};

constexpr std::uint32_t kSign = 0x80000000u;
constexpr std::uint32_t kInfinity = 0x7f800000u;
constexpr std::uint32_t kQuiet = 0x00400000u;

// Drops the low bits of a float's mantissa, to nearest even. The carry may reach the exponent,
// which is right: the next number up is the next power of two.
std::uint32_t drop_bits(std::uint32_t magnitude, int bits) {
  const std::uint32_t odd = magnitude >> bits & 1;
  const std::uint32_t mask = (1u << bits) - 1;
  return (magnitude + (mask >> 1) + odd) & ~mask;
}

float bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & ~kSign;
  const std::uint32_t nan = (magnitude & 0xffff0000u) | kQuiet;
  const std::uint32_t rounded = magnitude > kInfinity ? nan : drop_bits(magnitude, 16);
  return std::bit_cast<float>((bits & kSign) | rounded);
}

float fp16(float value) {
  constexpr std::uint32_t kSmallestNormal = (127u - 14) << 23;  // 2^-14
  constexpr std::uint32_t kTooLarge = (127u + 16) << 23;        // 2^16
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & ~kSign;
  std::uint32_t rounded = drop_bits(magnitude, 13);
  if (rounded >= kTooLarge) rounded = kInfinity;
  // Below 2^-14 the grid is 2^-24, which is the grid of floats from 0.5 to 1: adding rounds to it.
  const float on_grid = (std::bit_cast<float>(magnitude) + 0.5f) - 0.5f;
  if (magnitude < kSmallestNormal) rounded = std::bit_cast<std::uint32_t>(on_grid);
  if (magnitude > kInfinity) rounded = (magnitude & 0xffffe000u) | kQuiet;
  return std::bit_cast<float>((bits & kSign) | rounded);
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) void fp16_by_f16c(std::span<float> values) {
  const std::size_t whole = values.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(values.data() + i),
                                           _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm256_storeu_ps(values.data() + i, _mm256_cvtph_ps(halves));
  }
  round_to_fp16_in_software(values.subspan(whole));
}
#endif

}  // namespace

Precision parse_precision(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& [name, precision] : kNames) {
    if (name == text) return precision;
    names.emplace_back(name);
  }
  throw ConfigError("{}", unknown_name("precision", text, names));
}

std::string_view to_text(Precision precision) {
  return kNames[static_cast<std::size_t>(precision)].first;
}

void round_to(Precision precision, std::span<float> values) {
  if (precision == Precision::kBf16) round_to_bf16(values);
  if (precision == Precision::kFp16) round_to_fp16(values);
}

void round_to_bf16(std::span<float> values) {
  for (float& value : values) value = bf16(value);
}

void round_to_fp16(std::span<float> values) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("f16c")) return fp16_by_f16c(values);
#endif
  round_to_fp16_in_software(values);
}

void round_to_fp16_in_software(std::span<float> values) {
  for (float& value : values) value = fp16(value);
}

void LossScale::update(bool overflowed) {
  if (overflowed) {
    scale_ = std::max(1.0, scale_ / 2);
    good_steps_ = 0;
  } else if (++good_steps_ == kGoodStepsToDouble) {
    scale_ = std::min(kLargest, scale_ * 2);
    good_steps_ = 0;
  }
}

void LossScale::state(StateVisitor& visitor) {
  visitor.real("scale", scale_);
  visitor.integer("good_steps", good_steps_);
}

}  // namespace lockstep
