#include "lockstep/model/softmax_loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

TEST(SoftmaxLoss, EqualLogitsCostTheLogarithmOfTheClasses) {
  const std::vector<float> logits(8, 3.0f);
  const std::vector<std::int64_t> labels{0, 3};
  for (const double smoothing : {0.0, 0.2}) {
    EXPECT_NEAR((SoftmaxLoss{4, smoothing}.run(logits, labels, 1, {}).loss), 2 * std::log(4), 1e-9);
  }
}

// The gradient is the slope of the loss, and sums to zero over the classes.
TEST(SoftmaxLoss, TheGradientIsTheSlope) {
  std::vector<float> logits{0.3f, -1.2f, 2.0f, 0.1f, 0.0f, 5.0f};
  const std::vector<std::int64_t> labels{2, 0};
  for (const double smoothing : {0.0, 0.1}) {
    const SoftmaxLoss loss{3, smoothing};
    std::vector<float> gradient(6);
    EXPECT_EQ(loss.run(logits, labels, 2, gradient).correct, 1u);
    EXPECT_NEAR(std::accumulate(gradient.begin(), gradient.begin() + 3, 0.0), 0, 1e-6);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      auto up = logits, down = logits;
      up[i] += 0.01f;
      down[i] -= 0.01f;
      const double slope = (loss.run(up, labels, 1, {}).loss - loss.run(down, labels, 1, {}).loss) /
                           (double(up[i]) - down[i]);
      EXPECT_NEAR(gradient[i], 2 * slope, 1e-3);
    }
    auto in_place = logits;
    loss.run(in_place, labels, 2, in_place);
    EXPECT_EQ(in_place, gradient);
  }
}

TEST(SoftmaxLoss, SoftTargetsAddTheirCrossEntropy) {
  const std::vector<float> logits{0.3f, -1.2f, 2.0f, 0.1f, 0.0f, 5.0f};
  const std::vector<std::int64_t> labels{2, 0};
  const SoftTargets soft{{0.2f, 0.3f, 0.5f, 1.0f, 0.0f, 0.0f}, 0.7f};
  const SoftmaxLoss loss{3, 0.1};
  double expected = loss.run(logits, labels, 1, {}).loss;
  for (std::size_t row = 0; row < 2; ++row) {
    double total = 0;
    for (std::size_t c = 0; c < 3; ++c) total += std::exp(double(logits[3 * row + c]));
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t i = 3 * row + c;
      expected -= soft.weight * soft.probabilities[i] * (logits[i] - std::log(total));
    }
  }
  std::vector<float> gradient(6);
  EXPECT_NEAR(loss.run(logits, labels, 2, gradient, soft).loss, expected, 1e-6);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    auto up = logits, down = logits;
    up[i] += 0.01f;
    down[i] -= 0.01f;
    const double rise =
        loss.run(up, labels, 1, {}, soft).loss - loss.run(down, labels, 1, {}, soft).loss;
    EXPECT_NEAR(gradient[i], 2 * rise / (double(up[i]) - down[i]), 1e-3);
  }
  auto in_place = logits;
  loss.run(in_place, labels, 2, in_place, soft);
  EXPECT_EQ(in_place, gradient);
}

TEST(SoftmaxLoss, LargeLogitsDoNotOverflow) {
  const std::vector<float> logits{1000, -1000};
  const std::vector<std::int64_t> labels{1};
  EXPECT_DOUBLE_EQ((SoftmaxLoss{2, 0}.run(logits, labels, 1, {}).loss), 2000);
}

TEST(SoftmaxLoss, LabelsOutsideTheClassesAreRefused) {
  const std::vector<float> logits(2);
  for (const std::int64_t label : {-1, 2}) {
    EXPECT_THROW((SoftmaxLoss{2, 0}.run(logits, std::vector{label}, 1, {})), DataError);
  }
}

}  // namespace
}  // namespace lockstep
