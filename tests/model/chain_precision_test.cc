// Laws of 16-bit precision in whole networks.
#include <algorithm>

#include "tests/model/chain_under_test.h"

namespace lockstep {
namespace {

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

TEST(ChainPrecision, SixteenBitGradientsAreNearlyThoseOfFloat) {
  for (const auto& network : networks()) {
    SCOPED_TRACE(network.name);
    const auto batch = noise(network.data, 0, 8);
    const auto exact = gradient(*network.make(), batch);
    for (const auto* precision : {"bf16", "fp16"}) {
      ModelSettings settings;
      settings.precision = precision;
      const auto replica = network.make(settings);
      EXPECT_EQ(copy(replica->params()), copy(network.make()->params()));  // masters are float
      auto rounded = gradient(*replica, batch);
      while (!all_finite(rounded)) {  // the loss scale is still looking for its size
        replica->report_overflow(true);
        rounded = gradient(*replica, batch);
      }
      double product = 0, exact_square = 0, rounded_square = 0;
      for (std::size_t i = 0; i < exact.size(); ++i) {
        product += double(exact[i]) * rounded[i];
        exact_square += double(exact[i]) * exact[i];
        rounded_square += double(rounded[i]) * rounded[i];
      }
      EXPECT_GT(product / std::sqrt(exact_square * rounded_square), 0.98) << precision;
      EXPECT_NEAR(rounded_square / exact_square, 1, 0.1) << precision;
      EXPECT_NE(rounded, exact);
      EXPECT_FALSE(replica->remarks().empty());
    }
    EXPECT_TRUE(network.make()->remarks().empty());
  }
}

// Changes of the masters too small for bf16 are kept, and seen once they add up.
TEST(ChainPrecision, SixteenBitWeightsFollowTheMasters) {
  const Network network{"logistic", image_shape(1, 4, 4), {}};
  ModelSettings settings;
  settings.precision = "bf16";
  const auto replica = network.make(settings);
  const auto batch = noise(network.data, 0, 8);
  const double before = replica->evaluate(batch).loss;
  for (auto& weight : replica->params()) weight *= 2;
  EXPECT_EQ(replica->evaluate(batch).loss, before);
  replica->apply_update();
  EXPECT_NE(replica->evaluate(batch).loss, before);
}

TEST(ChainPrecision, Fp16OverflowsAreVisibleAndLowerTheScale) {
  const Network network{"mlp", image_shape(1, 4, 4), {}};
  ModelSettings settings;
  settings.precision = "fp16";
  const auto replica = network.make(settings);
  EXPECT_TRUE(replica->may_overflow());
  EXPECT_FALSE(network.make()->may_overflow());
  const auto batch = noise(network.data, 0, 2);
  EXPECT_FALSE(all_finite(gradient(*replica, batch, 4096)));
  for (int halvings = 0; halvings < 16; ++halvings) replica->report_overflow(true);
  EXPECT_TRUE(all_finite(gradient(*replica, batch, 4096)));
}

}  // namespace
}  // namespace lockstep
