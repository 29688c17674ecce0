#include "lockstep/base/error.h"
#include "lockstep/optim/handover.h"
#include "tests/optim/optimizer_under_test.h"

namespace lockstep {
namespace {

TEST(Handover, GrowsFromRmsPropToSgd) {
  const Handover handover{.center = 10, .period = 5};
  EXPECT_NEAR(handover.sgd_part(0), 0.5 * std::exp(-4.0), 1e-15);
  EXPECT_NEAR(handover.sgd_part(7.5), 0.5 * std::exp(-1.0), 1e-15);
  EXPECT_DOUBLE_EQ(handover.sgd_part(10), 0.5);
  EXPECT_DOUBLE_EQ(handover.sgd_part(11), 0.7);
  EXPECT_DOUBLE_EQ(handover.sgd_part(12.5), 1);
  EXPECT_DOUBLE_EQ(handover.sgd_part(90), 1);
}

TEST(Handover, HasNoJumpAndNoKinkBeforeItsEnd) {
  const Handover handover{.center = 3, .period = 2};
  const double h = 1e-6;
  double before = handover.sgd_part(0);
  for (double epoch = 0.01; epoch < 6; epoch += 0.01) {
    EXPECT_GE(handover.sgd_part(epoch), before);
    EXPECT_LT(handover.sgd_part(epoch) - before, 0.0051);  // slope at most 1/period
    before = handover.sgd_part(epoch);
  }
  const double left = (handover.sgd_part(3) - handover.sgd_part(3 - h)) / h;
  const double right = (handover.sgd_part(3 + h) - handover.sgd_part(3)) / h;
  EXPECT_NEAR(left, right, 1e-5);
}

TEST(Handover, WithoutAPeriodSwitchesAtOnce) {
  const Handover handover{.center = 2, .period = 0};
  EXPECT_EQ(handover.sgd_part(1.999), 0);
  EXPECT_EQ(handover.sgd_part(2), 1);
}

TEST(RmsPropSgd, FollowsItsFormula) {
  auto optimizer = make_optimizer("rmsprop-sgd", {{"lr", "0.1"},
                                                  {"rms_lr", "0.003"},
                                                  {"momentum", "0.8"},
                                                  {"alpha", "0.95"},
                                                  {"eps", "1e-6"},
                                                  {"handover_center", "6"},
                                                  {"handover_period", "4"}});
  const Handover handover{.center = 6, .period = 4};
  std::map<std::size_t, double> m, delta;
  expect_follows(
      *optimizer,
      [&](const ReferenceLayer& r) {
        const double sgd = handover.sgd_part(r.rates.epoch);
        const double rms = (1 - sgd) * 0.003 / 0.1;
        for (std::size_t i = 0; i < r.w.size(); ++i) {
          const std::size_t k = r.layer.offset + i;
          const double d = r.g[i] + r.rates.weight_decay * r.w[i];
          m[k] = 0.95 * m[k] + 0.05 * d * d;
          delta[k] = 0.8 * delta[k] - (sgd + rms / (std::sqrt(m[k]) + 1e-6)) * d;
          r.w[i] += r.rates.lr * delta[k];
        }
      },
      0.1, 0.01);
}

TEST(RmsPropSgd, IsSgdAfterTheHandover) {
  const auto layers = test_layers();
  const std::size_t n = size_of(layers);
  auto handed_over =
      make_optimizer("rmsprop-sgd", {{"handover_center", "0"}, {"handover_period", "0"}});
  auto sgd = make_optimizer("sgd");
  auto a = test_weights(n), b = a;
  handed_over->prepare(layers);
  sgd->prepare(layers);
  for (std::int64_t step = 0; step < 10; ++step) {
    const Rates rates{.lr = 0.1, .weight_decay = 1e-3, .epoch = 1};
    const auto gradients = test_gradients(n, step);
    handed_over->update(step, rates, a, gradients, 0, layers.size());
    sgd->update(step, rates, b, gradients, 0, layers.size());
  }
  EXPECT_EQ(a, b);
}

TEST(RmsPropSgd, RefusesARateOfZero) {
  EXPECT_THROW(make_optimizer("rmsprop-sgd", {{"lr", "0"}}), ConfigError);
}

}  // namespace
}  // namespace lockstep
