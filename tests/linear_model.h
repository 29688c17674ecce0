// Softmax regression written out by hand: a model small enough to check a training run by, without
// torch. Its gradient is exact and its sums are in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "lockstep/base/random.h"
#include "lockstep/data/dataset.h"
#include "lockstep/model/replica.h"

namespace lockstep {

class LinearReplica : public Replica {
 public:
  explicit LinearReplica(const ModelSettings& settings)
      : values_(settings.data.values()), classes_(static_cast<std::size_t>(settings.data.classes)) {
    const std::size_t weights = values_ * classes_;
    layers_ = {{"weight",
                0,
                weights,
                {settings.data.classes, static_cast<std::int64_t>(values_)},
                LayerKind::kWeight},
               {"bias", weights, classes_, {settings.data.classes}, LayerKind::kBias}};
    params_->resize(weights + classes_);
    grads_.resize(params_->size());
    Random random(settings.seed, "init");
    for (std::size_t i = 0; i < weights; ++i)
      (*params_)[i] = static_cast<float>(random.normal() / 8);
  }

  PassResult forward_backward(const Batch& batch, float weight,
                              const LayerReady& on_layer) override {
    std::vector<double> gradient(grads_.size());
    const PassResult result = pass(batch, &gradient);
    const double factor = batch.size() > 0 ? weight / static_cast<double>(batch.size()) : 0;
    for (std::size_t i = 0; i < grads_.size(); ++i) {
      grads_[i] = static_cast<float>(gradient[i] * factor);
    }
    for (std::size_t i = layers_.size(); on_layer && i-- > 0;) on_layer(i);
    // Something that differs from worker to worker, as running statistics do.
    if (batch.size() > 0) seen_[0] = 0.9f * seen_[0] + 0.1f * static_cast<float>(batch.ids[0]);
    return result;
  }
  PassResult evaluate(const Batch& batch) override { return pass(batch, nullptr); }
  void predict(const Batch& batch, std::span<float> scores) override {
    for (std::size_t s = 0; s < batch.size(); ++s) {
      const auto row = scores_of(batch, s);
      std::copy(row.begin(), row.end(), &scores[s * classes_]);
    }
  }

  std::span<float> params() override { return *params_; }
  SharedParameters shared_params() override { return params_; }
  void use_params(SharedParameters params) override { params_ = std::move(params); }
  std::span<float> grads() override { return grads_; }
  std::span<float> buffers() override { return seen_; }
  std::span<const Layer> layers() const override { return layers_; }
  double modelled_seconds() const override { return 1e-6; }
  void save(const std::string&) override {}

 private:
  std::vector<double> scores_of(const Batch& batch, std::size_t s) const {
    const float* x = batch.values.data() + s * values_;
    const auto& params = *params_;
    std::vector<double> score(classes_);
    for (std::size_t c = 0; c < classes_; ++c) {
      score[c] = params[values_ * classes_ + c];
      for (std::size_t i = 0; i < values_; ++i) score[c] += params[c * values_ + i] * x[i];
    }
    return score;
  }

  PassResult pass(const Batch& batch, std::vector<double>* gradient) const {
    PassResult result;
    result.labels = batch.size();
    const SoftTargets& soft = batch.soft;
    for (std::size_t s = 0; s < batch.size(); ++s) {
      const float* x = batch.values.data() + s * values_;
      auto score = scores_of(batch, s);
      const auto best =
          static_cast<std::size_t>(std::max_element(score.begin(), score.end()) - score.begin());
      const auto label = static_cast<std::size_t>(batch.labels[s]);
      result.correct += best == label ? 1 : 0;
      const double top = score[best];
      double sum = 0;
      for (double& one : score) sum += one = std::exp(one - top);
      result.loss -= std::log(score[label] / sum) / static_cast<double>(batch.size());
      const auto* drawn = soft.probabilities.empty() ? nullptr : &soft.probabilities[s * classes_];
      for (std::size_t c = 0; drawn != nullptr && c < classes_; ++c) {
        result.loss -= soft.weight * drawn[c] * std::log(score[c] / sum) / double(batch.size());
      }
      if (gradient == nullptr) continue;
      for (std::size_t c = 0; c < classes_; ++c) {
        double slope = score[c] / sum - (c == label ? 1 : 0);
        if (drawn != nullptr) slope += soft.weight * (score[c] / sum - drawn[c]);
        for (std::size_t i = 0; i < values_; ++i) (*gradient)[c * values_ + i] += slope * x[i];
        (*gradient)[values_ * classes_ + c] += slope;
      }
    }
    return result;
  }

  std::size_t values_, classes_;
  std::vector<Layer> layers_;
  SharedParameters params_ = std::make_shared<AlignedVector<float>>();
  std::vector<float> grads_, seen_ = {0};
};

class LinearModel : public ModelKind {
 public:
  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    return std::make_unique<LinearReplica>(settings);
  }
  bool mergeable() const override { return true; }
};

// Two values a sample, three classes in three directions, with noise.
inline std::shared_ptr<const Dataset> three_directions(std::size_t samples) {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = "three directions";
  dataset->shape = {DataShape::Kind::kVector, {2}, 3, 0};
  dataset->samples = dataset->first_test = samples;
  AlignedVector<float> values;
  for (std::size_t i = 0; i < samples; ++i) {
    Random random(5, "directions", 0, i);
    const auto label = static_cast<std::int64_t>(random.below(3));
    const double angle = 2.1 * static_cast<double>(label);
    values.push_back(static_cast<float>(std::cos(angle) + 0.3 * random.normal()));
    values.push_back(static_cast<float>(std::sin(angle) + 0.3 * random.normal()));
    dataset->labels.push_back(label);
  }
  dataset->values = std::move(values);
  return dataset;
}

}  // namespace lockstep
