#include "lockstep/model/precision.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"

namespace lockstep {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float bf16_value(std::uint32_t bits) {
  return std::bit_cast<float>(bits << 16);
}

float fp16_value(std::uint32_t bits) {
  const double sign = bits >> 15 ? -1 : 1;
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  if (exponent == 31) return mantissa ? std::nanf("") : static_cast<float>(sign) * kInfinity;
  if (exponent == 0) return static_cast<float>(sign * std::ldexp(mantissa, -24));
  return static_cast<float>(sign * std::ldexp(1024 + mantissa, exponent - 25));
}

float rounded(Precision precision, float value) {
  round_to(precision, {&value, 1});
  return value;
}

struct Format {
  Precision precision;
  float (*value)(std::uint32_t);
  std::uint32_t infinity;  // bits of +inf: smaller bits are the finite numbers in order
};
constexpr Format kFormats[] = {{Precision::kBf16, bf16_value, 0x7f80},
                               {Precision::kFp16, fp16_value, 0x7c00}};

TEST(Precision, EveryNumberOfTheFormatStaysItself) {
  for (const auto& format : kFormats) {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      const float value = format.value(bits);
      const float after = rounded(format.precision, value);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(after));
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(after), std::bit_cast<std::uint32_t>(value));
      }
    }
  }
}

// Between any two neighbours: the middle goes to the even one, anything nearer goes to the nearer.
TEST(Precision, RoundsToTheNearestAndTiesToEven) {
  for (const auto& format : kFormats) {
    for (std::uint32_t bits = 0; bits + 1 < format.infinity; ++bits) {
      const float low = format.value(bits), high = format.value(bits + 1);
      const float middle = static_cast<float>((static_cast<double>(low) + high) / 2);
      for (const float sign : {1.0f, -1.0f}) {
        ASSERT_EQ(rounded(format.precision, sign * middle), sign * (bits % 2 == 0 ? low : high));
        ASSERT_EQ(rounded(format.precision, sign * std::nextafter(middle, 0.0f)), sign * low);
        ASSERT_EQ(rounded(format.precision, sign * std::nextafter(middle, kInfinity)), sign * high);
      }
    }
  }
}

TEST(Precision, TooLargeBecomesInfinite) {
  EXPECT_EQ(rounded(Precision::kFp16, std::nextafter(65520.0f, 0.0f)), 65504.0f);
  EXPECT_EQ(rounded(Precision::kFp16, 65520.0f), kInfinity);
  EXPECT_EQ(rounded(Precision::kFp16, -1e30f), -kInfinity);
  EXPECT_EQ(rounded(Precision::kBf16, std::numeric_limits<float>::max()), kInfinity);
  EXPECT_EQ(rounded(Precision::kBf16, -kInfinity), -kInfinity);
  EXPECT_EQ(rounded(Precision::kFloat, 0.1f), 0.1f);
}

TEST(Precision, TheProcessorAndTheSoftwareAgreeBitForBit) {
  Random random(1, "bits");
  std::vector<float> by_cpu(100003), by_software;  // not a multiple of a vector's width
  for (auto& value : by_cpu) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  for (std::size_t i = 0; i < by_cpu.size(); i += 2) {  // half of them where fp16 is finite
    by_cpu[i] = static_cast<float>(std::ldexp(random.uniform(-1, 1), int(random.below(44)) - 27));
  }
  by_software = by_cpu;
  round_to_fp16(by_cpu);
  round_to_fp16_in_software(by_software);
  for (std::size_t i = 0; i < by_cpu.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(by_cpu[i]),
              std::bit_cast<std::uint32_t>(by_software[i]));
  }
}

TEST(Precision, NamesAreChecked) {
  for (const auto* name : {"float", "bf16", "fp16"}) {
    EXPECT_EQ(to_text(parse_precision(name)), name);
  }
  EXPECT_THROW(parse_precision("half"), ConfigError);
}

TEST(LossScale, HalvesOnOverflowAndDoublesAfterGoodSteps) {
  LossScale scale;
  EXPECT_EQ(scale.value(), 65536);
  scale.update(true);
  EXPECT_EQ(scale.value(), 32768);
  for (int i = 1; i < LossScale::kGoodStepsToDouble; ++i) scale.update(false);
  EXPECT_EQ(scale.value(), 32768);
  scale.update(false);
  EXPECT_EQ(scale.value(), 65536);
  for (int i = 0; i < 100; ++i) scale.update(true);
  EXPECT_EQ(scale.value(), 1);
  for (int i = 0; i < 100 * LossScale::kGoodStepsToDouble; ++i) scale.update(false);
  EXPECT_EQ(scale.value(), LossScale::kLargest);
}

}  // namespace
}  // namespace lockstep
