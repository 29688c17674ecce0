// What a whole chain of layers and a part of one have in common: their parameters, and how a pass
// over a batch begins.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/model/chain_builder.h"
#include "lockstep/model/softmax_loss.h"

namespace lockstep {

// Adds the layers of a network to the builder and ends with classifier().
using BuildChain = std::function<std::vector<LayerPointer>(ChainBuilder&)>;

// Base: Replica or Stage.
template <typename Base>
class ChainModel : public Base {
 public:
  std::span<float> params() override { return parameters_.flat().params(); }
  std::span<float> grads() override { return parameters_.flat().grads(); }
  std::span<float> buffers() override { return parameters_.flat().buffers(); }
  std::span<const Layer> layers() const override { return parameters_.flat().layers(); }
  SharedParameters shared_params() override { return parameters_.flat().shared(); }
  void use_params(SharedParameters params) override { parameters_.flat().use(std::move(params)); }
  void apply_update() override { parameters_.refresh(); }

  // Backward is two products for each of forward.
  double modelled_seconds() const override {
    return std::accumulate(backward_seconds_.begin(), backward_seconds_.end(), 0.0) * 3 / 2;
  }
  std::span<const double> backward_seconds() const override { return backward_seconds_; }
  std::vector<std::string> remarks() const override {
    if (precision_ == Precision::kFloat) return {};
    return {
        fmt::format("{} is emulated by rounding weights, activations and gradients between "
                    "layers: same mathematics, no gain in speed",
                    to_text(precision_))};
  }

 protected:
  explicit ChainModel(const ModelSettings& settings)
      : settings_(settings),
        precision_(parse_precision(settings.precision)),
        loss_{static_cast<std::size_t>(settings.data.classes), settings.label_smoothing} {
    torch::set_num_threads(settings.threads);  // torch would take all cores, in every new thread
  }

  // Once the layers are there.
  void allocate(const std::vector<LayerPointer>& chain) {
    parameters_.allocate(settings_.seed, precision_);
    backward_seconds_.resize(layers().size());
    for (const auto& layer : chain) layer->add_operations(backward_seconds_);
    for (double& seconds : backward_seconds_) seconds *= 2 / kReferenceCore;
  }

  Pass pass_over(const Batch& batch, bool training) {
    Pass pass{parameters_, batch, memory_};
    pass.training = training;
    pass.seed = settings_.seed;
    pass.precision = precision_;
    return pass;
  }

  // The batch's own memory; a rounded copy in 16-bit precision.
  torch::Tensor input(const Pass& pass) const {
    LOCKSTEP_CHECK(pass.batch.shape == settings_.data, "a batch of another shape than the model's");
    const auto samples = static_cast<std::int64_t>(pass.batch.size());
    auto x = input_shape(settings_.data).over(pass.batch.values.data(), samples);
    if (precision_ == Precision::kFloat) return x;
    x = x.clone();
    pass.round(x);
    return x;
  }

  static torch::Tensor run_forward(const std::vector<LayerPointer>& chain, torch::Tensor x,
                                   const Pass& pass) {
    for (const auto& layer : chain) x = layer->forward(x, pass);
    return x;
  }
  // Undefined where nothing before the chain learns.
  static torch::Tensor run_backward(const std::vector<LayerPointer>& chain, torch::Tensor gradient,
                                    const Pass& pass) {
    for (auto layer = chain.rbegin(); layer != chain.rend() && gradient.defined(); ++layer) {
      gradient = (*layer)->backward(gradient, pass);
    }
    return gradient;
  }
  static std::span<float> values_of(const torch::Tensor& dense) {
    return {dense.data_ptr<float>(), static_cast<std::size_t>(dense.numel())};
  }
  // Without smoothed labels, which are a means of training.
  PassResult plain_loss(const torch::Tensor& scores, const Batch& batch) const {
    const auto sum = SoftmaxLoss{loss_.classes}.run(values_of(scores), batch.labels, 1, {});
    return {sum.loss / double(batch.labels.size()), batch.labels.size(), sum.correct};
  }

  ModelSettings settings_;
  Precision precision_;
  ActivationMemory memory_;
  ParameterStore parameters_;
  SoftmaxLoss loss_;

 private:
  std::vector<double> backward_seconds_;  // of one sample, by layer
};

}  // namespace lockstep
