// Our fused optimizers and torch's own, from the same weights and gradients, stay together.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

#include "tests/optim/optimizer_under_test.h"

namespace lockstep {
namespace {

constexpr std::int64_t kSteps = 50;

// A torch optimizer made by `make` over the layers as tensors, and ours, 50 steps each.
template <typename Make>
void expect_same(const std::string& name, const Settings& settings, Make make) {
  SCOPED_TRACE(name);
  const auto layers = test_layers();
  const std::size_t n = size_of(layers);
  auto weights = test_weights(n);

  std::vector<torch::Tensor> tensors;
  for (const auto& layer : layers) {
    const auto size = static_cast<std::int64_t>(layer.size);
    tensors.push_back(
        torch::from_blob(weights.data() + layer.offset, {size}).clone().requires_grad_());
  }
  const std::unique_ptr<torch::optim::Optimizer> theirs = make(tensors);

  const auto ours = make_optimizer(name, settings);
  ours->prepare(layers);
  const Rates rates{.lr = ours->base_lr(), .weight_decay = ours->base_weight_decay(), .epoch = 0};
  for (std::int64_t step = 0; step < kSteps; ++step) {
    auto gradients = test_gradients(n, step);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto size = static_cast<std::int64_t>(layers[i].size);
      tensors[i].mutable_grad() =
          torch::from_blob(gradients.data() + layers[i].offset, {size}).clone();
    }
    theirs->step();
    ours->update(step, rates, weights, gradients, 0, layers.size());
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const float* expected = tensors[i].data_ptr<float>();
    for (std::size_t k = 0; k < layers[i].size; ++k) {
      const double scale = std::max(1.0f, std::abs(expected[k]));
      ASSERT_NEAR(weights[layers[i].offset + k], expected[k], 1e-6 * scale)
          << layers[i].name << " " << k;
    }
  }
}

template <typename Torch, typename TorchOptions>
auto with(TorchOptions options) {
  return [options](const std::vector<torch::Tensor>& tensors) {
    return std::make_unique<Torch>(tensors, options);
  };
}

TEST(AgainstTorch, Sgd) {
  using torch::optim::SGD;
  using torch::optim::SGDOptions;
  expect_same("sgd", {{"lr", "0.1"}, {"momentum", "0"}}, with<SGD>(SGDOptions(0.1)));
  expect_same("sgd", {{"lr", "0.1"}, {"momentum", "0"}, {"weight_decay", "0.01"}},
              with<SGD>(SGDOptions(0.1).weight_decay(0.01)));
  expect_same("sgd", {{"lr", "0.05"}, {"momentum", "0.9"}, {"weight_decay", "1e-4"}},
              with<SGD>(SGDOptions(0.05).momentum(0.9).weight_decay(1e-4)));
  expect_same("sgd", {{"lr", "0.05"}, {"momentum", "0.9"}, {"dampening", "0.2"}},
              with<SGD>(SGDOptions(0.05).momentum(0.9).dampening(0.2)));
  expect_same("sgd",
              {{"lr", "0.05"}, {"momentum", "0.9"}, {"weight_decay", "1e-3"}, {"nesterov", "true"}},
              with<SGD>(SGDOptions(0.05).momentum(0.9).weight_decay(1e-3).nesterov(true)));
}

TEST(AgainstTorch, RmsProp) {
  using torch::optim::RMSprop;
  using torch::optim::RMSpropOptions;
  expect_same("rmsprop", {{"lr", "0.001"}}, with<RMSprop>(RMSpropOptions(0.001)));
  expect_same("rmsprop", {{"lr", "0.001"}, {"alpha", "0.9"}, {"weight_decay", "0.01"}},
              with<RMSprop>(RMSpropOptions(0.001).alpha(0.9).weight_decay(0.01)));
  expect_same("rmsprop",
              {{"lr", "0.001"}, {"eps", "1e-6"}, {"momentum", "0.9"}, {"centered", "true"}},
              with<RMSprop>(RMSpropOptions(0.001).eps(1e-6).momentum(0.9).centered(true)));
}

TEST(AgainstTorch, Adam) {
  using torch::optim::Adam;
  using torch::optim::AdamOptions;
  expect_same("adam", {}, with<Adam>(AdamOptions(0.001)));
  expect_same("adam",
              {{"lr", "0.01"}, {"beta1", "0.8"}, {"beta2", "0.99"}, {"weight_decay", "0.01"}},
              with<Adam>(AdamOptions(0.01).betas(std::make_tuple(0.8, 0.99)).weight_decay(0.01)));
}

TEST(AgainstTorch, AdamW) {
  using torch::optim::AdamW;
  using torch::optim::AdamWOptions;
  expect_same("adamw", {}, with<AdamW>(AdamWOptions(0.001)));
  expect_same("adamw", {{"lr", "0.01"}, {"weight_decay", "0.1"}, {"eps", "1e-6"}},
              with<AdamW>(AdamWOptions(0.01).weight_decay(0.1).eps(1e-6)));
}

}  // namespace
}  // namespace lockstep
