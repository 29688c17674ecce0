// What the tests of optimizers share: a small model's layers, gradients from the counter-based
// generator, and a comparison with a reference in double.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lockstep/base/random.h"
#include "lockstep/optim/optimizer.h"
#include "tests/optim/component.h"
#include "tests/optim/memory_state.h"

namespace lockstep {

inline std::unique_ptr<Optimizer> make_optimizer(const std::string& name,
                                                 const Settings& settings = {}) {
  return make_component<Optimizer>(name, settings);
}

// Sizes that no vector width divides, and each kind of layer.
inline std::vector<Layer> test_layers() {
  std::vector<Layer> layers;
  std::size_t offset = 0;
  const auto add = [&](const char* name, std::size_t size, LayerKind kind) {
    layers.push_back({name, offset, size, {static_cast<std::int64_t>(size)}, kind});
    offset += size;
  };
  add("a.weight", 103, LayerKind::kWeight);
  add("a.bias", 7, LayerKind::kBias);
  add("n.scale", 19, LayerKind::kNorm);
  add("b.weight", 64, LayerKind::kWeight);
  add("b.bias", 1, LayerKind::kBias);
  return layers;
}

inline std::size_t size_of(const std::vector<Layer>& layers) {
  return layers.back().offset + layers.back().size;
}

inline std::vector<float> random_floats(std::size_t n, std::string_view purpose, std::uint64_t step,
                                        double scale) {
  Random random(11, purpose, 0, step);
  std::vector<float> values(n);
  for (auto& value : values) value = static_cast<float>(scale * random.normal());
  return values;
}
inline std::vector<float> test_weights(std::size_t n) {
  return random_floats(n, "weights", 0, 1.0);
}
inline std::vector<float> test_gradients(std::size_t n, std::int64_t step) {
  return random_floats(n, "gradients", static_cast<std::uint64_t>(step), 0.1);
}

// A step of one layer in double, written out by the test. `t` counts from 1; state is its own, by
// the weight's number in the whole vector.
struct ReferenceLayer {
  const Layer& layer;
  std::int64_t t;
  Rates rates;
  std::span<double> w;
  std::span<const double> g;
};
using ReferenceStep = std::function<void(const ReferenceLayer&)>;

// 30 steps of the optimizer and of the reference, with rates that change, end at the same weights.
inline void expect_follows(Optimizer& optimizer, const ReferenceStep& reference, double lr,
                           double weight_decay) {
  const auto layers = test_layers();
  const std::size_t n = size_of(layers);
  auto weights = test_weights(n);
  const auto start = weights;
  std::vector<double> expected(weights.begin(), weights.end());
  optimizer.prepare(layers);
  for (std::int64_t step = 0; step < 30; ++step) {
    const auto gradients = test_gradients(n, step);
    const std::vector<double> exact(gradients.begin(), gradients.end());
    const Rates rates{.lr = lr / (1 + 0.05 * static_cast<double>(step)),
                      .weight_decay = weight_decay,
                      .epoch = 0.5 * static_cast<double>(step)};
    optimizer.update(step, rates, weights, gradients, 0, layers.size());
    for (const auto& layer : layers) {
      reference({layer, step + 1, rates, std::span(expected).subspan(layer.offset, layer.size),
                 std::span(exact).subspan(layer.offset, layer.size)});
    }
  }
  double moved = 0;
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_NEAR(weights[i], expected[i], 1e-5 * std::max(1.0, std::abs(expected[i]))) << i;
    moved = std::max(moved, std::abs(expected[i] - start[i]));
  }
  EXPECT_GT(moved, 1e-2);  // else the comparison would say nothing
}

}  // namespace lockstep
