#include "tests/optim/optimizer_under_test.h"

namespace lockstep {
namespace {

double length(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

TEST(Lars, FollowsItsFormula) {
  for (const bool adapt_all : {false, true}) {
    const std::string flag = adapt_all ? "true" : "false";
    auto lars = make_optimizer(
        "lars",
        {{"trust", "0.02"}, {"momentum", "0.9"}, {"adapt_norm", flag}, {"adapt_bias", flag}});
    std::map<std::size_t, double> v;
    expect_follows(
        *lars,
        [&](const ReferenceLayer& r) {
          const double decay = r.rates.weight_decay;
          const bool adapts = adapt_all || r.layer.kind == LayerKind::kWeight;
          const double local =
              adapts ? 0.02 * length(r.w) / (length(r.g) + decay * length(r.w)) : 1.0;
          for (std::size_t i = 0; i < r.w.size(); ++i) {
            double& velocity = v[r.layer.offset + i];
            velocity = 0.9 * velocity + local * (r.g[i] + decay * r.w[i]);
            r.w[i] -= r.rates.lr * velocity;
          }
        },
        0.1, 0.01);
  }
}

TEST(Lars, TheSizeOfTheGradientDoesNotMatter) {
  const std::vector<Layer> layers = {{"w", 0, 50, {50}, LayerKind::kWeight}};
  const auto after = [&](float scale) {
    auto lars = make_optimizer("lars");
    lars->prepare(layers);
    auto weights = test_weights(50);
    auto gradients = test_gradients(50, 0);
    for (auto& g : gradients) g *= scale;
    lars->update(0, {.lr = 1, .weight_decay = 0}, weights, gradients, 0, 1);
    return weights;
  };
  const auto small = after(1e-12f), large = after(1e12f);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(small[i], large[i], 1e-6);
}

TEST(Lars, WeightsOfZeroTakeThePlainRate) {
  const std::vector<Layer> layers = {{"w", 0, 3, {3}, LayerKind::kWeight}};
  auto lars = make_optimizer("lars");
  lars->prepare(layers);
  std::vector<float> weights(3, 0.0f);
  const std::vector<float> gradients(3, 1.0f);
  lars->update(0, {.lr = 0.5, .weight_decay = 0.1}, weights, gradients, 0, 1);
  for (const float w : weights) EXPECT_FLOAT_EQ(w, -0.5f);
}

}  // namespace
}  // namespace lockstep
