// A network without mathematics, for studies of communication: the layers of a well-known one, the
// seconds it would take, and gradients that show whether they were exchanged rightly.
//
// The gradient of sample s at place i is a(s) · u(i) with u a fixed pattern and
// a(s) = (1 + s mod 16) / 16; a batch has the mean of its samples' gradients, as a network does.
// The average over the workers is therefore known: the mean of a over all their samples, times u.
// It learns nothing: loss and hits are those of somebody who always says class 0 and believes in
// all classes equally.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lockstep/base/aligned.h"
#include "lockstep/base/error.h"
#include "lockstep/model/fake_profiles.h"
#include "lockstep/model/replica.h"

namespace lockstep {
namespace {

constexpr std::size_t kPattern = 4096;  // u repeats after so many places of a layer

// Multiples of 1/256 from −1/2 to 1/2: sums of a few are exact in float.
float pattern(std::size_t place) {
  return (static_cast<float>(place * 37 % 257) - 128) / 256;
}

void fill(std::span<float> values, float factor) {
  float tile[kPattern];
  const std::size_t tiled = std::min(values.size(), kPattern);
  for (std::size_t i = 0; i < tiled; ++i) tile[i] = factor * pattern(i);
  for (std::size_t at = 0; at < values.size(); at += kPattern) {
    std::memcpy(&values[at], tile, std::min(values.size() - at, kPattern) * sizeof(float));
  }
}

// The mean of a(s).
double coefficient(const Batch& batch) {
  double sum = 0;
  for (const SampleId id : batch.ids) sum += 1 + id % 16;
  return batch.size() == 0 ? 0 : sum / (16 * static_cast<double>(batch.size()));
}

class FakeReplica : public Replica {
 public:
  // `seconds` for forward and backward of a sample.
  FakeReplica(const std::vector<ProfiledLayer>& profile, double seconds, std::int64_t classes)
      : loss_(std::log(static_cast<double>(std::max<std::int64_t>(classes, 1)))),
        seconds_(seconds) {
    double flops = 0;
    for (const auto& layer : profile) flops += layer.forward_flops;
    for (const auto& [layer, forward_flops] : profile) {
      layers_.push_back(layer);
      backward_seconds_.push_back(seconds * 2 / 3 * forward_flops / flops);
    }
    params_.resize(layers_.back().offset + layers_.back().size);
    grads_.resize(params_.size());
    for (const auto& layer : layers_) fill({&params_[layer.offset], layer.size}, 0.1f);
  }

  PassResult forward_backward(const Batch& batch, float weight,
                              const LayerReady& on_layer) override {
    const float factor = weight * static_cast<float>(coefficient(batch));
    if (on_layer) on_layer(kForwardOver);
    for (std::size_t i = layers_.size(); i-- > 0;) {
      fill({&grads_[layers_[i].offset], layers_[i].size}, factor);
      if (on_layer) on_layer(i);
    }
    return evaluate(batch);
  }
  PassResult evaluate(const Batch& batch) override {
    if (batch.size() == 0) return {};
    const auto hits = std::ranges::count(batch.labels, 0);
    return {loss_, batch.labels.size(), static_cast<std::size_t>(hits)};
  }

  std::span<float> params() override { return params_; }
  std::span<float> grads() override { return grads_; }
  std::span<float> buffers() override { return {}; }
  std::span<const Layer> layers() const override { return layers_; }
  double modelled_seconds() const override { return seconds_; }
  std::span<const double> backward_seconds() const override { return backward_seconds_; }
  bool saves() const override { return false; }
  void save(const std::string&) override {
    throw ConfigError("model \"fake\" has learned nothing that could be saved");
  }
  std::vector<std::string> remarks() const override {
    return {"model \"fake\" only exchanges gradients: loss and accuracy mean nothing"};
  }

 private:
  std::vector<Layer> layers_;
  std::vector<double> backward_seconds_;
  AlignedVector<float> params_, grads_;
  double loss_, seconds_;
};

class Fake : public ModelKind {
 public:
  explicit Fake(const Options& options)
      : profile_(profile(options.text("profile"))), seconds_(options.real("seconds")) {
    if (seconds_ > 0) return;
    for (const auto& layer : profile_) {
      seconds_ += 3 * layer.forward_flops / (1e9 * options.real("gflops"));
    }
  }
  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    return std::make_unique<FakeReplica>(profile_, seconds_, settings.data.classes);
  }
  // One large batch in the place of many would leave nothing to exchange.
  bool mergeable() const override { return false; }

 private:
  std::vector<ProfiledLayer> profile_;
  double seconds_ = 0;
};

OptionSet options() {
  OptionSet set;
  set.text("profile", "resnet50", "whose layers").one_of(profile_names());
  set.real("gflops", 50, "speed at which the seconds are worked out from the arithmetic").above(0);
  set.real("seconds", 0, "forward and backward of a sample; 0: by gflops").at_least(0);
  return set;
}

const Registration<ModelKind> kFake{
    "fake", "No mathematics: layer sizes and times of a well-known network, to study exchange.",
    options(), [](const Options& values) { return std::make_unique<Fake>(values); }};

}  // namespace
}  // namespace lockstep
