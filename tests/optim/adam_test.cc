#include "tests/optim/optimizer_under_test.h"

namespace lockstep {
namespace {

TEST(Adam, FollowsItsFormulaWithEitherDecay) {
  for (const bool direct : {false, true}) {
    auto adam = make_optimizer(direct ? "adamw" : "adam",
                               {{"beta1", "0.8"}, {"beta2", "0.95"}, {"eps", "1e-6"}});
    std::map<std::size_t, double> m, v;
    expect_follows(
        *adam,
        [&](const ReferenceLayer& r) {
          const double decay = r.rates.weight_decay, lr = r.rates.lr;
          const auto t = static_cast<double>(r.t);
          for (std::size_t i = 0; i < r.w.size(); ++i) {
            const std::size_t k = r.layer.offset + i;
            const double d = direct ? r.g[i] : r.g[i] + decay * r.w[i];
            m[k] = 0.8 * m[k] + 0.2 * d;
            v[k] = 0.95 * v[k] + 0.05 * d * d;
            const double mean = m[k] / (1 - std::pow(0.8, t));
            const double square = v[k] / (1 - std::pow(0.95, t));
            if (direct) r.w[i] -= lr * decay * r.w[i];
            r.w[i] -= lr * mean / (std::sqrt(square) + 1e-6);
          }
        },
        0.01, 0.1);
  }
}

TEST(Adam, TheFirstStepIsAsLongAsTheRate) {
  auto adam = make_optimizer("adam");
  const std::vector<Layer> layers = {{"w", 0, 2, {2}, LayerKind::kWeight}};
  adam->prepare(layers);
  std::vector<float> weights = {1, 1};
  const std::vector<float> gradients = {1e-3f, -50.0f};
  adam->update(0, {.lr = 0.25, .weight_decay = 0}, weights, gradients, 0, 1);
  EXPECT_NEAR(weights[0], 0.75, 1e-5);
  EXPECT_NEAR(weights[1], 1.25, 1e-5);
}

}  // namespace
}  // namespace lockstep
