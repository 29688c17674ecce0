#include "lockstep/model/norm_kernels.h"

#include <gtest/gtest.h>

#include <vector>

#include "lockstep/base/random.h"

namespace lockstep {
namespace {

std::vector<float> noise(std::size_t size, std::uint64_t stream) {
  Random random(1, "kernels", stream);
  std::vector<float> values(size);
  for (auto& value : values) value = static_cast<float>(random.normal());
  return values;
}

// Everything the kernels write, one after the other.
std::vector<float> run_all(const NormKernels& kernels, std::size_t rows, std::size_t channels) {
  const RowBlock block{rows, channels};
  const auto x = noise(rows * channels, 1), residual = noise(rows * channels, 2);
  const auto scale = noise(channels, 3), shift = noise(channels, 4), mean = noise(channels, 5);
  std::vector<float> everything;
  const auto keep = [&](const std::vector<float>& values) {
    everything.insert(everything.end(), values.begin(), values.end());
  };
  std::vector<float> first(channels), second(channels), out(rows * channels);
  kernels.sum_columns(block, x.data(), mean.data(), first.data(), second.data());
  keep(first);
  keep(second);
  for (const bool relu : {false, true}) {
    for (const float* added : {static_cast<const float*>(nullptr), residual.data()}) {
      kernels.scale_and_shift(block, x.data(), added, scale.data(), shift.data(), relu, out.data());
      keep(out);
    }
  }
  for (const Mask mask : {Mask::kNone, Mask::kRecomputed, Mask::kByOutput}) {
    auto dy = noise(rows * channels, 6);
    const GradientRows in{dy.data(), x.data(), out.data(), scale.data(), shift.data(), mask};
    kernels.sum_gradients(block, in, mean.data(), first.data(), second.data());
    keep(first);
    keep(second);
    kernels.combine_gradients(block, in, mean.data(), scale.data(), shift.data(), mean.data(),
                              dy.data());
    keep(dy);
  }
  return everything;
}

TEST(NormKernels, TheCpusOwnLoopsGiveTheBitsOfThePlainOnes) {
  for (const std::size_t channels : {1, 3, 8, 16, 21, 64}) {
    for (const std::size_t rows : {1, 2, 7, 64}) {
      EXPECT_EQ(run_all(norm_kernels(), rows, channels),
                run_all(plain_norm_kernels(), rows, channels));
    }
  }
}

TEST(NormKernels, SumsAreSums) {
  const std::vector<float> x{1, 10, 2, 20, 3, 30}, origin{1, 0};
  std::vector<float> sum(2), squares(2);
  norm_kernels().sum_columns({3, 2}, x.data(), origin.data(), sum.data(), squares.data());
  EXPECT_EQ(sum, (std::vector<float>{3, 60}));
  EXPECT_EQ(squares, (std::vector<float>{5, 1400}));
}

TEST(NormKernels, TheMaskedGradientReplacesTheGradientOnlyByOutput) {
  const std::vector<float> x{1, -1}, output{0, 5}, scale{1}, shift{0}, mean{0};
  std::vector<float> dy{7, 8}, sum(1), with_x(1);
  GradientRows in{dy.data(),    x.data(),     output.data(),
                  scale.data(), shift.data(), Mask::kRecomputed};
  norm_kernels().sum_gradients({2, 1}, in, mean.data(), sum.data(), with_x.data());
  EXPECT_EQ(dy, (std::vector<float>{7, 8}));
  EXPECT_EQ(sum[0], 7);
  in.mask = Mask::kByOutput;
  norm_kernels().sum_gradients({2, 1}, in, mean.data(), sum.data(), with_x.data());
  EXPECT_EQ(dy, (std::vector<float>{0, 8}));
  EXPECT_EQ(with_x[0], -8);
}

}  // namespace
}  // namespace lockstep
