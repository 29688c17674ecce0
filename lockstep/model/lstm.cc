// LSTM (Hochreiter & Schmidhuber 1997; forget gates by Gers et al. 2000). Reads an image row by
// row, or a sequence of vectors, and classifies by its last state; or reads a text and predicts at
// every position. Torch computes the cells; weights have torch's names and layout.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/model/batch_tensors.h"
#include "lockstep/model/lstm_script.h"
#include "lockstep/model/module_replica.h"
#include "lockstep/model/module_stage.h"

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

// Units: a layer each, the first with the embedding, and the head.
class LstmBuilder {
 public:
  LstmBuilder(const LstmShape& shape, std::uint64_t seed, Range units)
      : shape_(shape), seed_(seed), units_(units) {}

  // The forget gates begin open: their bias is 1 (Jozefowicz et al. 2015).
  std::vector<NamedTensor> parameters() {
    if (shape_.tokens) add("embedding.weight", {shape_.vocabulary, shape_.features}, 0, true);
    const double bound = 1 / std::sqrt(static_cast<double>(shape_.hidden));
    for (std::int64_t layer = 0; layer < shape_.layers; ++layer) {
      unit_ = static_cast<std::size_t>(layer);
      const auto inputs = layer == 0 ? shape_.features : shape_.hidden;
      const std::string suffix = "_l" + std::to_string(layer);
      add("lstm.weight_ih" + suffix, {4 * shape_.hidden, inputs}, bound);
      add("lstm.weight_hh" + suffix, {4 * shape_.hidden, shape_.hidden}, bound);
      if (add("lstm.bias_ih" + suffix, {4 * shape_.hidden}, 0)) {
        parameters_.back().tensor.slice(0, shape_.hidden, 2 * shape_.hidden).fill_(1);
      }
      add("lstm.bias_hh" + suffix, {4 * shape_.hidden}, 0);
    }
    unit_ = static_cast<std::size_t>(shape_.layers);
    add("head.weight", {shape_.classes, shape_.hidden}, bound);
    add("head.bias", {shape_.classes}, 0);
    for (auto& parameter : parameters_) parameter.tensor.requires_grad_();
    return std::move(parameters_);
  }

 private:
  // Even over [−bound, bound), or normal. False: it is of a unit that is not wanted.
  bool add(std::string name, std::vector<std::int64_t> shape, double bound, bool normal = false) {
    const std::size_t number = declared_++;
    if (unit_ < units_.begin || unit_ >= units_.end()) return false;
    auto tensor = torch::zeros(shape);
    Random random(seed_, "init", number);
    auto* values = tensor.data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel() && (bound > 0 || normal); ++i) {
      values[i] = static_cast<float>(normal ? random.normal() : random.uniform(-bound, bound));
    }
    parameters_.push_back({std::move(name), std::move(tensor)});
    return true;
  }

  const LstmShape& shape_;
  std::uint64_t seed_;
  Range units_;
  std::size_t unit_ = 0, declared_ = 0;
  std::vector<NamedTensor> parameters_;
};

// Some units, with their weights. All of them are the same as the script that save() writes
// (lstm_script.cc).
torch::Tensor forward(const LstmShape& shape, Range units,
                      const std::vector<torch::Tensor>& weights, const torch::Tensor& input) {
  const auto layers = static_cast<std::size_t>(shape.layers);
  const bool heads = units.end() > layers;
  const std::int64_t here = static_cast<std::int64_t>(std::min(units.end(), layers) - units.begin);
  auto x = input;
  auto weight = weights.begin();
  if (units.begin == 0 && shape.tokens) x = torch::embedding(*weight++, input);
  if (units.begin == 0 && shape.image) x = input.permute({0, 2, 3, 1}).flatten(2);
  if (here > 0) {
    const auto state = torch::zeros({here, x.size(0), shape.hidden});
    const std::vector<torch::Tensor> of_layers(weight, weights.end() - (heads ? 2 : 0));
    x = std::get<0>(torch::lstm(x, {state, state}, of_layers, true, here, 0.0, false, false, true));
  }
  if (!heads) return x;
  const auto read_out = shape.tokens ? x : x.select(1, -1);
  return torch::linear(read_out, weights[weights.size() - 2], weights.back());
}

class Lstm : public ModelKind {
 public:
  explicit Lstm(const Options& options)
      : hidden_(options.integer("hidden")),
        layers_(options.integer("layers")),
        embedding_(options.integer("embedding")) {}

  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    const LstmShape shape = shape_of(settings.data);
    TrainableModule described = part(shape, settings, {0, layers() + 1});
    described.save = [shape, parameters = described.parameters](const std::string& path) {
      save_lstm(path, shape, parameters);
    };
    return std::make_unique<ModuleReplica>(std::move(described), settings);
  }

  std::vector<ModelUnit> units(const ModelSettings& settings) const override {
    require_float(settings, "the lstm");
    const LstmShape shape = shape_of(settings.data);
    const auto steps = reading_of(settings.data, embedding_).steps;
    const auto states = static_cast<std::size_t>(steps * hidden_);
    std::vector<ModelUnit> units;
    for (std::size_t i = 0; i <= layers(); ++i) {
      ModelUnit unit{.name = i < layers() ? fmt::format("lstm.{}", i) : "head"};
      for (const auto& [name, tensor] : LstmBuilder(shape, settings.seed, {i, 1}).parameters()) {
        unit.params += static_cast<std::size_t>(tensor.numel());
      }
      unit.out_values = i < layers() ? states : static_cast<std::size_t>(shape.classes);
      unit.kept_values = i < layers() ? 6 * states : unit.out_values;  // gates, cells, states
      unit.forward_seconds = flops(shape, steps, {i, 1}) / kReferenceCore;
      units.push_back(std::move(unit));
    }
    return units;
  }

  std::unique_ptr<Stage> make_stage(const ModelSettings& settings, Range units) const override {
    const std::vector<std::int64_t> states{reading_of(settings.data, embedding_).steps, hidden_};
    ModulePart stage{part(shape_of(settings.data), settings, units), {}, {}};
    if (units.begin > 0) stage.in = states;
    if (units.end() <= layers()) stage.out = states;
    return std::make_unique<ModuleStage>(std::move(stage), settings);
  }
  bool mergeable() const override { return true; }

 private:
  std::size_t layers() const { return static_cast<std::size_t>(layers_); }

  LstmShape shape_of(const DataShape& data) const {
    return {data.kind == DataShape::Kind::kTokens,
            data.kind == DataShape::Kind::kImage,
            data.vocabulary,
            reading_of(data, embedding_).features,
            hidden_,
            layers_,
            data.classes};
  }

  TrainableModule part(const LstmShape& shape, const ModelSettings& settings, Range units) const {
    TrainableModule described;
    described.title = "the lstm";
    described.parameters = LstmBuilder(shape, settings.seed, units).parameters();
    std::vector<torch::Tensor> weights;
    for (const auto& [name, tensor] : described.parameters) weights.push_back(tensor);
    described.buffers = [] { return std::vector<NamedTensor>(); };
    described.forward = [shape, units, weights](const torch::Tensor& input) {
      return forward(shape, units, weights, input);
    };
    described.set_training = [](bool) {};
    described.forward_flops = flops(shape, reading_of(settings.data, embedding_).steps, units);
    return described;
  }

  static double flops(const LstmShape& shape, std::int64_t steps, Range units) {
    std::int64_t sum = 0;
    for (auto i = static_cast<std::int64_t>(units.begin);
         i < static_cast<std::int64_t>(units.end()); ++i) {
      const auto inputs = i == 0 ? shape.features : shape.hidden;
      sum += i < shape.layers ? steps * 4 * shape.hidden * (inputs + shape.hidden)
                              : shape.hidden * shape.classes * (shape.tokens ? steps : 1);
    }
    return 2.0 * static_cast<double>(sum);
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
