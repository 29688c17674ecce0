// Laws of every registered optimizer.
#include "lockstep/optim/layerwise.h"

#include <gmock/gmock.h>

#include "lockstep/base/error.h"
#include "tests/optim/optimizer_under_test.h"

namespace lockstep {
namespace {

class EveryOptimizer : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Optimizer> fresh(const Settings& settings = {}) const {
    auto optimizer = make_optimizer(GetParam(), settings);
    optimizer->prepare(layers_);
    return optimizer;
  }
  // Steps from … to−1, a range of layers after the other, as `cuts` says.
  void run(Optimizer& optimizer, std::vector<float>& weights, std::int64_t from, std::int64_t to,
           const std::vector<std::size_t>& cuts = {}) const {
    for (std::int64_t step = from; step < to; ++step) {
      const Rates rates{.lr = 0.01, .weight_decay = 0.02, .epoch = static_cast<double>(step)};
      const auto gradients = test_gradients(n_, step);
      std::size_t first = 0;
      for (const std::size_t cut : cuts) {
        optimizer.update(step, rates, weights, gradients, first, cut);
        first = cut;
      }
      optimizer.update(step, rates, weights, gradients, first, layers_.size());
    }
  }

  const std::vector<Layer> layers_ = test_layers();
  const std::size_t n_ = size_of(layers_);
};

TEST_P(EveryOptimizer, SeveralRangesOfLayersAreOneCall) {
  auto whole = fresh(), parts = fresh();
  auto a = test_weights(n_), b = a;
  run(*whole, a, 0, 12);
  run(*parts, b, 0, 12, {1, 1, 3, 4});
  EXPECT_EQ(a, b);
}

TEST_P(EveryOptimizer, RestoredIsNeverStopped) {
  auto steady = fresh(), stopped = fresh();
  auto a = test_weights(n_), b = a;
  run(*steady, a, 0, 20);
  run(*stopped, b, 0, 9);
  MemoryState state;
  stopped->state(state);
  state.restore();
  auto resumed = fresh();
  resumed->state(state);
  run(*resumed, b, 9, 20);
  EXPECT_EQ(a, b);
}

TEST_P(EveryOptimizer, ResetIsFresh) {
  auto used = fresh(), anew = fresh();
  auto scratch = test_weights(n_);
  run(*used, scratch, 0, 7);
  used->reset();
  auto a = test_weights(n_), b = a;
  run(*used, a, 7, 15);
  run(*anew, b, 7, 15);  // a first step need not be number 0
  EXPECT_EQ(a, b);
}

TEST_P(EveryOptimizer, LearnsABowl) {
  auto optimizer = fresh({{"lr", "0.01"}});
  auto weights = test_weights(n_);
  const auto squares = [&] {
    double sum = 0;
    for (const float w : weights) sum += w * w;
    return sum;
  };
  const double before = squares();
  for (std::int64_t step = 0; step < 300; ++step) {
    const auto gradients = weights;
    optimizer->update(step, {.lr = 0.01, .weight_decay = 0, .epoch = 0}, weights, gradients, 0,
                      layers_.size());
  }
  EXPECT_LT(squares(), before);
}

TEST_P(EveryOptimizer, NormAndBiasDecayOnlyIfAsked) {
  const auto after = [&](const char* norm, const char* bias, double weight_decay) {
    auto optimizer = fresh({{"decay_norm", norm}, {"decay_bias", bias}});
    auto weights = test_weights(n_);
    optimizer->update(0, {.lr = 0.1, .weight_decay = weight_decay}, weights, test_gradients(n_, 0),
                      0, layers_.size());
    return weights;
  };
  const auto none = after("true", "true", 0), all = after("true", "true", 0.5),
             no_norm = after("false", "true", 0.5), no_bias = after("true", "false", 0.5);
  for (const auto& layer : layers_) {
    const auto part = [&](const std::vector<float>& weights) {
      const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(layer.offset);
      return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(layer.size));
    };
    EXPECT_EQ(part(no_norm), part(layer.kind == LayerKind::kNorm ? none : all)) << layer.name;
    EXPECT_EQ(part(no_bias), part(layer.kind == LayerKind::kBias ? none : all)) << layer.name;
  }
}

TEST_P(EveryOptimizer, ShowsItsBaseRates) {
  auto optimizer = fresh({{"lr", "0.125"}, {"weight_decay", "0.25"}});
  EXPECT_EQ(optimizer->base_lr(), 0.125);
  EXPECT_EQ(optimizer->base_weight_decay(), 0.25);
  EXPECT_THROW(make_optimizer(GetParam(), {{"lr", "-1"}}), ConfigError);
}

TEST_P(EveryOptimizer, TakesEmptyLayers) {
  auto optimizer = make_optimizer(GetParam());
  const std::vector<Layer> layers = {{"nothing", 0, 0, {0}, LayerKind::kWeight},
                                     {"w", 0, 1, {1}, LayerKind::kWeight}};
  optimizer->prepare(layers);
  std::vector<float> weights = {1};
  const std::vector<float> gradients = {1};
  optimizer->update(0, {.lr = 0.1, .weight_decay = 0}, weights, gradients, 0, 2);
  EXPECT_LT(weights[0], 1);
}

TEST_P(EveryOptimizer, RefusesVectorsThatAreNotItsLayers) {
  auto optimizer = fresh();
  auto weights = test_weights(n_ + 1);
  const auto gradients = test_gradients(n_ + 1, 0);
  EXPECT_THROW(optimizer->update(0, {}, weights, gradients, 0, 1), InternalError);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, EveryOptimizer,
                         testing::ValuesIn(Registry<Optimizer>::instance().names()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Optimizers, AreAllThere) {
  EXPECT_THAT(
      Registry<Optimizer>::instance().names(),
      testing::ElementsAre("adam", "adamw", "lamb", "lars", "rmsprop", "rmsprop-sgd", "sgd"));
}

}  // namespace
}  // namespace lockstep
