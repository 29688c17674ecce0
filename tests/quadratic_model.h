// A noisy quadratic: the analytic problem that strategies are tested on. Every sample s pulls the
// parameters towards the optimum, displaced by noise of its own:
//
//   loss_s(x) = ½ Σ_i a_i (x_i − o_i − ε_s,i)²,   a_i from 0.5 to 2, ε normal
//
// so the gradient, its mean over a batch and the effect of any averaging can be written down.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "lockstep/base/random.h"
#include "lockstep/data/dataset.h"
#include "lockstep/model/replica.h"

namespace lockstep {

class QuadraticReplica : public Replica {
 public:
  static constexpr std::size_t kSize = 37;  // divides by nothing
  static double curvature(std::size_t i) { return 0.5 + 1.5 * static_cast<double>(i) / kSize; }
  static double optimum(std::size_t i) { return std::cos(static_cast<double>(i)); }

  QuadraticReplica() : params_(kSize), grads_(kSize) {
    layers_ = {{"first", 0, 20, {20}, LayerKind::kWeight},
               {"second", 20, kSize - 20, {kSize - 20}, LayerKind::kWeight}};
    for (std::size_t i = 0; i < kSize; ++i) params_[i] = 3 + static_cast<float>(i % 5);
  }

  PassResult forward_backward(const Batch& batch, float weight,
                              const LayerReady& on_layer) override {
    std::vector<double> sum(kSize);
    const PassResult result = pass(batch, &sum);
    const double factor = batch.size() > 0 ? weight / static_cast<double>(batch.size()) : 0;
    for (std::size_t i = 0; i < kSize; ++i) grads_[i] = static_cast<float>(sum[i] * factor);
    for (std::size_t i = layers_.size(); on_layer && i-- > 0;) on_layer(i);
    if (batch.size() > 0) seen_[0] = 0.9f * seen_[0] + 0.1f * static_cast<float>(batch.ids[0]);
    return result;
  }
  PassResult evaluate(const Batch& batch) override { return pass(batch, nullptr); }

  std::span<float> params() override { return params_; }
  std::span<float> grads() override { return grads_; }
  std::span<float> buffers() override { return seen_; }
  std::span<const Layer> layers() const override { return layers_; }
  double modelled_seconds() const override { return 1e-4; }
  void save(const std::string&) override {}

 private:
  PassResult pass(const Batch& batch, std::vector<double>* gradient) const {
    PassResult result;
    result.labels = batch.size();
    for (const SampleId id : batch.ids) {
      Random noise(3, "quadratic", 0, id);
      for (std::size_t i = 0; i < kSize; ++i) {
        const double off = params_[i] - optimum(i) - 0.1 * noise.normal();
        result.loss += 0.5 * curvature(i) * off * off / static_cast<double>(batch.size());
        if (gradient != nullptr) (*gradient)[i] += curvature(i) * off;
      }
    }
    return result;
  }

  std::vector<Layer> layers_;
  std::vector<float> params_, grads_, seen_ = {0};
};

class QuadraticModel : public ModelKind {
 public:
  std::unique_ptr<Replica> make(const ModelSettings&) const override {
    return std::make_unique<QuadraticReplica>();
  }
  bool mergeable() const override { return true; }
};

// Samples of which only the numbers count.
inline std::shared_ptr<const Dataset> numbered_samples(std::size_t samples) {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = "numbered samples";
  dataset->shape = {DataShape::Kind::kVector, {1}, 2, 0};
  dataset->samples = dataset->first_test = samples;
  dataset->values = AlignedVector<float>(samples);
  dataset->labels.assign(samples, 0);
  return dataset;
}

}  // namespace lockstep
