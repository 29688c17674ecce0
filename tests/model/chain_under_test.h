// What the tests of layered networks share: batches of noise, and the same network as TorchScript
// with torch's own autograd, to which gradients are held.
#pragma once

#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>

#include "lockstep/base/random.h"
#include "lockstep/model/replica.h"

namespace lockstep {

inline DataShape image_shape(std::int64_t channels, std::int64_t height, std::int64_t width) {
  return {DataShape::Kind::kImage, {channels, height, width}, 10, 0};
}

inline ModelSettings settings_for(const DataShape& data) {
  ModelSettings settings;
  settings.data = data;
  return settings;
}

inline std::unique_ptr<Replica> make_replica(
    const std::string& model, const ModelSettings& settings,
    const std::vector<std::pair<std::string, std::string>>& options = {}) {
  auto& registry = Registry<ModelKind>::instance();
  auto values = registry.options(model);
  for (const auto& [name, value] : options) values.set(name, value);
  return registry.make(model, values)->make(settings);
}

// Samples first … first + count − 1 of an endless set of noise.
inline Batch noise(const DataShape& shape, std::size_t first, std::size_t count) {
  Batch batch;
  batch.shape = shape;
  for (std::size_t id = first; id < first + count; ++id) {
    Random random(1, "noise", id);
    batch.ids.push_back(static_cast<SampleId>(id));
    for (std::size_t i = 0; i < shape.values(); ++i) {
      batch.values.push_back(static_cast<float>(random.normal()));
    }
    batch.labels.push_back(static_cast<std::int64_t>(random.below(std::uint64_t(shape.classes))));
  }
  return batch;
}

inline std::vector<float> copy(std::span<const float> values) {
  return {values.begin(), values.end()};
}

// Equal up to a share of the largest value; what should be zero may be rounding noise.
inline void expect_near(std::span<const float> actual, std::span<const float> expected,
                        double share, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = 0, off = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    largest = std::max(largest, std::abs(double(expected[i])));
    const double difference = std::abs(double(actual[i]) - expected[i]);
    off = std::isnan(difference) ? INFINITY : std::max(off, difference);
  }
  EXPECT_LE(off, share * largest + 1e-6) << what << " differs";
}

// The network as torch.jit.load sees it.
class Scripted {
 public:
  explicit Scripted(Replica& replica) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("lockstep_chain_" + std::to_string(::getpid()) + ".pt");
    replica.save(path.string());
    module = torch::jit::load(path.string());
    std::filesystem::remove(path);
  }

  static torch::Tensor input(const Batch& batch) {
    auto shape = batch.shape.sample;
    shape.insert(shape.begin(), std::int64_t(batch.size()));
    auto values = torch::from_blob(const_cast<float*>(batch.values.data()),
                                   {std::int64_t(batch.values.size())})
                      .clone();
    if (batch.shape.kind != DataShape::Kind::kImage) return values.view(shape);
    return values.view({shape[0], shape[2], shape[3], shape[1]}).permute({0, 3, 1, 2});
  }

  torch::Tensor loss(const Batch& batch, double smoothing) {
    const auto labels = torch::from_blob(const_cast<std::int64_t*>(batch.labels.data()),
                                         {std::int64_t(batch.labels.size())}, torch::kLong);
    return torch::nn::functional::cross_entropy(
        module.forward({input(batch)}).toTensor(), labels,
        torch::nn::functional::CrossEntropyFuncOptions().label_smoothing(smoothing));
  }

  torch::Tensor parameter(const std::string& name) const {
    for (const auto& item : module.named_parameters()) {
      if (item.name == name) return item.value;
    }
    throw std::runtime_error("no parameter " + name);
  }

  std::vector<float> buffers() const {  // in the order of names, as is all the tests need
    std::vector<float> values;
    for (const auto& item : module.named_buffers()) {
      const auto flat = item.value.contiguous();
      values.insert(values.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
    }
    return values;
  }

  torch::jit::Module module;
};

// Loss, gradients and moving averages of a training pass are those of autograd.
inline void expect_autograd(Replica& replica, const Batch& batch, double smoothing = 0) {
  Scripted reference(replica);
  reference.module.train();
  const auto loss = reference.loss(batch, smoothing);
  (0.5 * loss).backward();
  const auto result = replica.forward_backward(batch, 0.5f);
  EXPECT_NEAR(result.loss, loss.item<double>(), 1e-5 * std::abs(loss.item<double>()));
  EXPECT_EQ(result.labels, batch.labels.size());
  for (const Layer& layer : replica.layers()) {
    const auto gradient = reference.parameter(layer.name).grad().contiguous();
    ASSERT_EQ(gradient.sizes().vec(), layer.shape);
    expect_near(replica.grads().subspan(layer.offset, layer.size),
                {gradient.data_ptr<float>(), std::size_t(gradient.numel())}, 1e-4, layer.name);
  }
  expect_near(Scripted(replica).buffers(), reference.buffers(), 1e-5, "moving averages");
}

// A small network of the configuration.
struct Network {
  std::string name;
  DataShape data;
  std::vector<std::pair<std::string, std::string>> options;
  std::unique_ptr<Replica> make(ModelSettings settings = {}) const {
    settings.data = data;
    return make_replica(name, settings, options);
  }
};

inline std::vector<Network> networks() {
  DataShape vectors;
  vectors.sample = {20};
  vectors.classes = 10;
  return {{"logistic", image_shape(3, 6, 5), {}},
          {"mlp", vectors, {{"widths", "[17, 9]"}}},
          {"lenet", image_shape(1, 14, 14), {}},
          {"resnet", image_shape(3, 8, 8), {{"depth", "8"}}},
          {"resnet", image_shape(3, 8, 8), {{"depth", "8"}, {"norm", "group"}}},
          {"resnet", image_shape(3, 8, 8), {{"depth", "8"}, {"norm", "none"}}}};
}

inline std::vector<float> gradient(Replica& replica, const Batch& batch, float weight = 1) {
  replica.forward_backward(batch, weight);
  return copy(replica.grads());
}

}  // namespace lockstep
