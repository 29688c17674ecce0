#include "tests/optim/optimizer_under_test.h"

namespace lockstep {
namespace {

TEST(RmsProp, FollowsItsFormula) {
  for (const bool centered : {false, true}) {
    for (const double mu : {0.0, 0.7}) {
      SCOPED_TRACE(testing::Message() << "centered " << centered << " momentum " << mu);
      auto rmsprop = make_optimizer("rmsprop", {{"alpha", "0.9"},
                                                {"eps", "1e-6"},
                                                {"centered", centered ? "true" : "false"},
                                                {"momentum", mu == 0 ? "0" : "0.7"}});
      std::map<std::size_t, double> square, mean, velocity;
      expect_follows(
          *rmsprop,
          [&](const ReferenceLayer& r) {
            for (std::size_t i = 0; i < r.w.size(); ++i) {
              const std::size_t k = r.layer.offset + i;
              const double d = r.g[i] + r.rates.weight_decay * r.w[i];
              square[k] = 0.9 * square[k] + 0.1 * d * d;
              mean[k] = 0.9 * mean[k] + 0.1 * d;
              const double spread = centered ? square[k] - mean[k] * mean[k] : square[k];
              velocity[k] = mu * velocity[k] + d / (std::sqrt(spread) + 1e-6);
              r.w[i] -= r.rates.lr * velocity[k];
            }
          },
          0.01, 0.01);
    }
  }
}

TEST(RmsProp, StaysFiniteWhereTheGradientNeverChanges) {
  auto rmsprop = make_optimizer("rmsprop", {{"centered", "true"}, {"alpha", "0.5"}});
  const std::vector<Layer> layers = {{"w", 0, 16, {16}, LayerKind::kWeight}};
  rmsprop->prepare(layers);
  std::vector<float> weights(16, 1.0f);
  const std::vector<float> gradients(16, 0.1f);
  for (std::int64_t step = 0; step < 100; ++step) {
    rmsprop->update(step, {.lr = 1e-9, .weight_decay = 0}, weights, gradients, 0, 1);
  }
  for (const float w : weights) EXPECT_TRUE(std::isfinite(w));
}

}  // namespace
}  // namespace lockstep
