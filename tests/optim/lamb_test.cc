#include "tests/optim/optimizer_under_test.h"

namespace lockstep {
namespace {

TEST(Lamb, FollowsItsFormula) {
  for (const bool adapt_all : {false, true}) {
    const std::string flag = adapt_all ? "true" : "false";
    auto lamb = make_optimizer(
        "lamb", {{"beta1", "0.8"}, {"beta2", "0.95"}, {"adapt_norm", flag}, {"adapt_bias", flag}});
    std::map<std::size_t, double> m, v;
    expect_follows(
        *lamb,
        [&](const ReferenceLayer& r) {
          const auto t = static_cast<double>(r.t);
          std::vector<double> u;
          double w_squares = 0, u_squares = 0;
          for (std::size_t i = 0; i < r.w.size(); ++i) {
            const std::size_t k = r.layer.offset + i;
            m[k] = 0.8 * m[k] + 0.2 * r.g[i];
            v[k] = 0.95 * v[k] + 0.05 * r.g[i] * r.g[i];
            const double mean = m[k] / (1 - std::pow(0.8, t));
            const double square = v[k] / (1 - std::pow(0.95, t));
            u.push_back(mean / (std::sqrt(square) + 1e-6) + r.rates.weight_decay * r.w[i]);
            w_squares += r.w[i] * r.w[i];
            u_squares += u.back() * u.back();
          }
          const bool adapts = adapt_all || r.layer.kind == LayerKind::kWeight;
          const double ratio = adapts ? std::sqrt(w_squares) / std::sqrt(u_squares) : 1;
          for (std::size_t i = 0; i < r.w.size(); ++i) r.w[i] -= r.rates.lr * ratio * u[i];
        },
        0.01, 0.1);
  }
}

TEST(Lamb, AStepIsAsLongAsTheRateTimesTheWeights) {
  const std::vector<Layer> layers = {{"w", 0, 100, {100}, LayerKind::kWeight}};
  auto lamb = make_optimizer("lamb");
  lamb->prepare(layers);
  auto weights = test_weights(100);
  const auto before = weights;
  lamb->update(0, {.lr = 0.01, .weight_decay = 0.5}, weights, test_gradients(100, 0), 0, 1);
  double step = 0, size = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    step += std::pow(weights[i] - before[i], 2);
    size += std::pow(before[i], 2);
  }
  EXPECT_NEAR(std::sqrt(step), 0.01 * std::sqrt(size), 1e-5);
}

}  // namespace
}  // namespace lockstep
