// 16-bit numbers, emulated: floats rounded to what bf16 or IEEE fp16 can hold. Mixed precision
// (Micikevicius et al. 2018) keeps float master weights and computes with rounded copies; fp16
// scales the loss so that small gradients do not vanish.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lockstep/base/state.h"

namespace lockstep {

enum class Precision { kFloat, kBf16, kFp16 };

Precision parse_precision(std::string_view text);  // "float", "bf16", "fp16", or a ConfigError
std::string_view to_text(Precision precision);

// To the nearest, ties to even; too large becomes infinite; NaN stays NaN. kFloat changes nothing.
void round_to(Precision precision, std::span<float> values);

void round_to_bf16(std::span<float> values);
void round_to_fp16(std::span<float> values);              // by F16C where the CPU has it
void round_to_fp16_in_software(std::span<float> values);  // the same bits on any CPU

// Dynamic loss scaling: halves when gradients overflow, doubles after a while without overflow.
class LossScale {
 public:
  static constexpr double kInitial = 65536;
  static constexpr double kLargest = 16777216;
  static constexpr std::int64_t kGoodStepsToDouble = 1000;

  float value() const { return static_cast<float>(scale_); }
  void update(bool overflowed);
  void state(StateVisitor& visitor);

 private:
  double scale_ = kInitial;
  std::int64_t good_steps_ = 0;  // since the last change
};

}  // namespace lockstep
