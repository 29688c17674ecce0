// A network of equal layers written out by hand, y = tanh(W·x), that can be cut between any two:
// small enough to check pipelines by, without torch. Every layer has a buffer that counts samples.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/model/replica.h"
#include "lockstep/model/softmax_loss.h"

namespace lockstep {

// `width` values go into every layer and come out of it; the last ones are the scores of the
// classes.
class StagedLayers : public Stage {
 public:
  StagedLayers(const ModelSettings& settings, std::size_t all, Range units)
      : width_(settings.data.values()), first_(units.begin == 0), last_(units.end() == all) {
    LOCKSTEP_CHECK(settings.data.classes == static_cast<std::int64_t>(width_), "not square");
    const std::size_t size = width_ * width_;
    const auto extent = static_cast<std::int64_t>(width_);
    for (std::size_t i = 0; i < units.size; ++i) {
      const std::string name = "layer" + std::to_string(units.begin + i);
      layers_.push_back({name, i * size, size, {extent, extent}, LayerKind::kWeight});
      Random random(settings.seed, "init " + name);
      for (std::size_t k = 0; k < size; ++k) {
        params_->push_back(static_cast<float>(random.normal() / std::sqrt(double(width_))));
      }
    }
    grads_.resize(params_->size());
    seen_.resize(units.size);
    backward_.assign(units.size, 0.2);
    make_slots(1);
  }

  std::span<float> params() override { return *params_; }
  std::span<float> grads() override { return grads_; }
  std::span<float> buffers() override { return seen_; }
  std::span<const Layer> layers() const override { return layers_; }
  SharedParameters shared_params() override { return params_; }
  void use_params(SharedParameters params) override { params_ = std::move(params); }
  double modelled_seconds() const override { return 0.3 * static_cast<double>(layers_.size()); }
  std::span<const double> backward_seconds() const override { return backward_; }

  std::size_t in_values() const override { return first_ ? 0 : width_; }
  std::size_t out_values() const override { return last_ ? 0 : width_; }
  void make_slots(std::size_t count) override { slots_.resize(count); }

  PassResult forward(const MicroBatch& micro, std::span<const float> in,
                     std::span<float> out) override {
    Kept& kept = slots_.at(micro.slot);
    kept = run(micro.batch, in);
    for (float& seen : seen_) seen += static_cast<float>(micro.batch.size());
    if (!last_) {
      std::ranges::copy(kept.back(), out.begin());
      return {};
    }
    const auto sum = loss().run(kept.back(), micro.batch.labels, micro.scale, kept.back());
    return {sum.loss / double(micro.batch.size()), micro.batch.size(), sum.correct};
  }

  void backward(const MicroBatch& micro, std::span<float> out, std::span<float> in,
                const LayerReady& on_layer) override {
    const Kept kept = std::exchange(slots_.at(micro.slot), {});
    LOCKSTEP_CHECK(kept.size() == layers_.size() + 1, "a micro-batch that did not go forward");
    std::vector<float> gradient = last_ ? kept.back() : std::vector<float>(out.begin(), out.end());
    for (std::size_t i = layers_.size(); i-- > 0;) {
      gradient = differentiate(i, kept, gradient, micro);
      if (on_layer) on_layer(i);
    }
    if (!first_) std::ranges::copy(gradient, in.begin());
  }

  PassResult evaluate(const Batch& batch, std::span<const float> in,
                      std::span<float> out) override {
    const Kept kept = run(batch, in);
    if (!last_) {
      std::ranges::copy(kept.back(), out.begin());
      return {};
    }
    const auto sum = loss().run(kept.back(), batch.labels, 1, {});
    return {sum.loss / double(batch.size()), batch.size(), sum.correct};
  }

 private:
  using Kept = std::vector<std::vector<float>>;  // what goes into each layer, and what comes out

  SoftmaxLoss loss() const { return {width_}; }
  float weight(std::size_t layer, std::size_t row, std::size_t column) const {
    return (*params_)[(layer * width_ + row) * width_ + column];
  }
  bool bent(std::size_t layer) const { return !last_ || layer + 1 < layers_.size(); }

  Kept run(const Batch& batch, std::span<const float> in) const {
    Kept kept{first_ ? std::vector<float>(batch.values.begin(), batch.values.end())
                     : std::vector<float>(in.begin(), in.end())};
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      std::vector<float> y(kept.back().size());
      for (std::size_t s = 0; s < batch.size(); ++s) {
        for (std::size_t r = 0; r < width_; ++r) {
          float sum = 0;
          for (std::size_t c = 0; c < width_; ++c) sum += weight(i, r, c) * kept[i][s * width_ + c];
          y[s * width_ + r] = bent(i) ? std::tanh(sum) : sum;
        }
      }
      kept.push_back(std::move(y));
    }
    return kept;
  }

  std::vector<float> differentiate(std::size_t layer, const Kept& kept, std::vector<float> dy,
                                   const MicroBatch& micro) {
    const auto &x = kept[layer], &y = kept[layer + 1];
    float* const sums = grads_.data() + layer * width_ * width_;
    if (!micro.adds) std::fill_n(sums, width_ * width_, 0.0f);
    std::vector<float> dx(x.size());
    for (std::size_t s = 0; s < micro.batch.size(); ++s) {
      for (std::size_t r = 0; r < width_; ++r) {
        float& slope = dy[s * width_ + r];
        if (bent(layer)) slope *= 1 - y[s * width_ + r] * y[s * width_ + r];
        for (std::size_t c = 0; c < width_; ++c) {
          sums[r * width_ + c] += slope * x[s * width_ + c];
          dx[s * width_ + c] += slope * weight(layer, r, c);
        }
      }
    }
    return dx;
  }

  std::size_t width_;
  bool first_, last_;
  std::vector<Layer> layers_;
  SharedParameters params_ = std::make_shared<AlignedVector<float>>();
  std::vector<float> grads_, seen_;
  std::vector<double> backward_;
  std::vector<Kept> slots_;
};

// All layers on one rank.
class UncutLayers : public Replica {
 public:
  UncutLayers(const ModelSettings& settings, std::size_t all) : all_(settings, all, {0, all}) {}

  PassResult forward_backward(const Batch& batch, float weight,
                              const LayerReady& on_layer) override {
    if (batch.size() == 0) {
      std::ranges::fill(grads(), 0.0f);
      for (std::size_t i = layers().size(); on_layer && i-- > 0;) on_layer(i);
      return {};
    }
    const auto scale = static_cast<float>(weight / static_cast<double>(batch.size()));
    const MicroBatch micro{batch, 0, scale, false};
    const PassResult result = all_.forward(micro, {}, {});
    all_.backward(micro, {}, {}, on_layer);
    return result;
  }
  PassResult evaluate(const Batch& batch) override { return all_.evaluate(batch, {}, {}); }
  std::span<float> params() override { return all_.params(); }
  std::span<float> grads() override { return all_.grads(); }
  std::span<float> buffers() override { return all_.buffers(); }
  std::span<const Layer> layers() const override { return all_.layers(); }
  SharedParameters shared_params() override { return all_.shared_params(); }
  void use_params(SharedParameters params) override { all_.use_params(std::move(params)); }
  double modelled_seconds() const override { return all_.modelled_seconds(); }
  std::span<const double> backward_seconds() const override { return all_.backward_seconds(); }
  void save(const std::string&) override {}

 private:
  StagedLayers all_;
};

class StagedModel : public ModelKind {
 public:
  explicit StagedModel(std::size_t layers) : layers_(layers) {}

  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    return std::make_unique<UncutLayers>(settings, layers_);
  }
  bool mergeable() const override { return false; }
  std::vector<ModelUnit> units(const ModelSettings& settings) const override {
    const std::size_t width = settings.data.values();
    std::vector<ModelUnit> units;
    for (std::size_t i = 0; i < layers_; ++i) {
      units.push_back({"layer" + std::to_string(i), width * width, 1, width, width, 0.1});
    }
    return units;
  }
  std::unique_ptr<Stage> make_stage(const ModelSettings& settings, Range units) const override {
    return std::make_unique<StagedLayers>(settings, layers_, units);
  }

 private:
  std::size_t layers_;
};

}  // namespace lockstep
