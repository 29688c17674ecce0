// LSTM (Hochreiter & Schmidhuber 1997; forget gates by Gers et al. 2000). Reads an image row by
// row, or a sequence of vectors, and classifies by its last state; or reads a text and predicts at
// every position. Torch computes the cells; weights have torch's names and layout.
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/model/batch_tensors.h"
#include "lockstep/model/lstm_script.h"
#include "lockstep/model/module_replica.h"

namespace lockstep {
namespace {

// How a sample is read: `features` values at each of `steps` positions.
struct Reading {
  std::int64_t steps = 0, features = 0;
};

Reading reading_of(const DataShape& data, std::int64_t embedding) {
  const auto& shape = data.sample;
  if (data.kind == DataShape::Kind::kTokens) return {shape[0], embedding};
  if (data.kind == DataShape::Kind::kImage) return {shape[1], shape[0] * shape[2]};
  if (shape.size() == 2) return {shape[0], shape[1]};
  throw ConfigError(
      "model \"lstm\" reads images, text or vectors of shape length×features; these "
      "data have shape {}",
      shape_text(shape));
}

class LstmBuilder {
 public:
  LstmBuilder(const LstmShape& shape, std::uint64_t seed) : shape_(shape), seed_(seed) {}

  // The forget gates begin open: their bias is 1 (Jozefowicz et al. 2015).
  std::vector<NamedTensor> parameters() {
    if (shape_.tokens) add("embedding.weight", {shape_.vocabulary, shape_.features}, 0, true);
    const double bound = 1 / std::sqrt(static_cast<double>(shape_.hidden));
    for (std::int64_t layer = 0; layer < shape_.layers; ++layer) {
      const auto inputs = layer == 0 ? shape_.features : shape_.hidden;
      const std::string suffix = "_l" + std::to_string(layer);
      add("lstm.weight_ih" + suffix, {4 * shape_.hidden, inputs}, bound);
      add("lstm.weight_hh" + suffix, {4 * shape_.hidden, shape_.hidden}, bound);
      add("lstm.bias_ih" + suffix, {4 * shape_.hidden}, 0);
      parameters_.back().tensor.slice(0, shape_.hidden, 2 * shape_.hidden).fill_(1);
      add("lstm.bias_hh" + suffix, {4 * shape_.hidden}, 0);
    }
    add("head.weight", {shape_.classes, shape_.hidden}, bound);
    add("head.bias", {shape_.classes}, 0);
    for (auto& parameter : parameters_) parameter.tensor.requires_grad_();
    return std::move(parameters_);
  }

 private:
  // Even over [−bound, bound), or normal.
  void add(std::string name, std::vector<std::int64_t> shape, double bound, bool normal = false) {
    auto tensor = torch::zeros(shape);
    Random random(seed_, "init", parameters_.size());
    auto* values = tensor.data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel() && (bound > 0 || normal); ++i) {
      values[i] = static_cast<float>(normal ? random.normal() : random.uniform(-bound, bound));
    }
    parameters_.push_back({std::move(name), std::move(tensor)});
  }

  const LstmShape& shape_;
  std::uint64_t seed_;
  std::vector<NamedTensor> parameters_;
};

// The same as the script that save() writes (lstm_script.cc).
torch::Tensor forward(const LstmShape& shape, const std::vector<torch::Tensor>& weights,
                      const torch::Tensor& input) {
  torch::Tensor sequence;
  if (shape.tokens) sequence = torch::embedding(weights.front(), input);
  if (shape.image) sequence = input.permute({0, 2, 3, 1}).flatten(2);
  if (!sequence.defined()) sequence = input;
  const auto first = weights.begin() + (shape.tokens ? 1 : 0);
  const auto state = torch::zeros({shape.layers, input.size(0), shape.hidden});
  const auto states = std::get<0>(torch::lstm(sequence, {state, state},
                                              std::vector<torch::Tensor>(first, weights.end() - 2),
                                              true, shape.layers, 0.0, false, false, true));
  const auto read_out = shape.tokens ? states : states.select(1, -1);
  return torch::linear(read_out, weights[weights.size() - 2], weights.back());
}

class Lstm : public ModelKind {
 public:
  explicit Lstm(const Options& options)
      : hidden_(options.integer("hidden")),
        layers_(options.integer("layers")),
        embedding_(options.integer("embedding")) {}

  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    const auto reading = reading_of(settings.data, embedding_);
    const LstmShape shape{settings.data.kind == DataShape::Kind::kTokens,
                          settings.data.kind == DataShape::Kind::kImage,
                          settings.data.vocabulary,
                          reading.features,
                          hidden_,
                          layers_,
                          settings.data.classes};
    TrainableModule described;
    described.title = "the lstm";
    described.parameters = LstmBuilder(shape, settings.seed).parameters();
    std::vector<torch::Tensor> weights;
    for (const auto& [name, tensor] : described.parameters) weights.push_back(tensor);
    described.buffers = [] { return std::vector<NamedTensor>(); };
    described.forward = [shape, weights](const torch::Tensor& input) {
      return forward(shape, weights, input);
    };
    described.set_training = [](bool) {};
    described.save = [shape, parameters = described.parameters](const std::string& path) {
      save_lstm(path, shape, parameters);
    };
    described.forward_flops = flops(shape, reading.steps);
    return std::make_unique<ModuleReplica>(std::move(described), settings);
  }
  bool mergeable() const override { return true; }

 private:
  static double flops(const LstmShape& shape, std::int64_t steps) {
    const auto cells =
        4 * shape.hidden * (shape.features + shape.hidden + (shape.layers - 1) * 2 * shape.hidden);
    const auto heads = shape.hidden * shape.classes * (shape.tokens ? steps : 1);
    return 2.0 * static_cast<double>(steps * cells + heads);
  }

  std::int64_t hidden_, layers_, embedding_;
};

OptionSet options() {
  OptionSet set;
  set.integer("hidden", 128, "units of a layer").at_least(1).at_most(65536);
  set.integer("layers", 1, "layers, one on top of the other").at_least(1).at_most(64);
  set.integer("embedding", 32, "values a character becomes; text only").at_least(1).at_most(65536);
  return set;
}

const Registration<ModelKind> kLstm{
    "lstm", "LSTM over the rows of an image or the characters of a text.", options(),
    [](const Options& values) { return std::make_unique<Lstm>(values); }};

}  // namespace
}  // namespace lockstep
