#include "lockstep/model/chain_builder.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/model/residual_block.h"

namespace lockstep {
namespace {

std::size_t elements(const std::vector<Layer>& layers) {
  return layers.empty() ? 0 : layers.back().offset + layers.back().size;
}

std::size_t params_in(const ParameterStore& one, const ParameterStore& other) {
  return elements(one.flat().layers()) + elements(other.flat().layers());
}

std::size_t buffers_in(const ParameterStore& one, const ParameterStore& other) {
  return elements(one.flat().buffer_layers()) + elements(other.flat().buffer_layers());
}

}  // namespace

ActivationShape input_shape(const DataShape& data) {
  if (data.kind != DataShape::Kind::kImage) {
    return {false, {}, static_cast<std::int64_t>(data.values())};
  }
  LOCKSTEP_CHECK(data.sample.size() == 3, "an image with {} extents", data.sample.size());
  return {true, {data.sample[0], data.sample[1], data.sample[2]}, 0};
}

ChainBuilder::ChainBuilder(ParameterStore& parameters, const ModelSettings& settings,
                           std::string network, Range wanted)
    : parameters_(parameters),
      elsewhere_(std::make_unique<ParameterStore>()),
      settings_(settings),
      network_(std::move(network)),
      wanted_(wanted) {
  if (settings.data.kind == DataShape::Kind::kTokens) {
    throw ConfigError("model \"{}\" reads images or vectors, and the data are text: use \"lstm\"",
                      network_);
  }
  shape_ = input_shape(settings.data);
  units_.emplace_back();
  entries_.push_back(shape_);
  params_ = params_in(parameters_, *elsewhere_);
  buffers_ = buffers_in(parameters_, *elsewhere_);
}

void ChainBuilder::need_image(const std::string& layer) const {
  if (!shape_.is_image) {
    throw ConfigError(
        "model \"{}\" reads images, and the data are vectors of {} values ({} needs "
        "rows and columns): use \"mlp\" or \"logistic\"",
        network_, shape_.features, layer);
  }
}

void ChainBuilder::need_size(const std::string& layer, std::int64_t size) const {
  const auto [channels, height, width] = shape_.image;
  if (std::min(height, width) < size) {
    throw ConfigError(
        "model \"{}\": images of {} × {} are too small: {} needs at least {} × {} "
        "where it stands, and {} × {} are left",
        network_, settings_.data.sample[1], settings_.data.sample[2], layer, size, size, height,
        width);
  }
}

// What does not learn before the first layer that does belongs to its unit.
void ChainBuilder::begin_unit(const std::string& name) {
  if (!units_.back().name.empty()) {
    units_.emplace_back();
    entries_.push_back(shape_);
  }
  units_.back().name = name;
}

bool ChainBuilder::wanted() const {
  const std::size_t unit = units_.size() - 1;
  return unit >= wanted_.begin && unit - wanted_.begin < wanted_.size;
}

ParameterStore& ChainBuilder::store() {
  return wanted() ? parameters_ : *elsewhere_;
}

void ChainBuilder::count(const LayerOp& layer, const ActivationShape& behind) {
  ModelUnit& unit = units_.back();
  const std::size_t params = params_in(parameters_, *elsewhere_);
  const std::size_t buffers = buffers_in(parameters_, *elsewhere_);
  unit.params += params - std::exchange(params_, params);
  unit.buffers += buffers - std::exchange(buffers_, buffers);
  std::vector<double> operations(store().flat().layers().size());
  layer.add_operations(operations);
  for (const double one : operations) unit.forward_seconds += one / kReferenceCore;
  unit.out_values = behind.values();
  unit.kept_values += behind.values() * static_cast<std::size_t>(layer.tensors_kept());
}

void ChainBuilder::add(LayerPointer layer, const ActivationShape& behind) {
  count(*layer, behind);
  if (wanted()) layers_.push_back(std::move(layer));
  shape_ = behind;
}

ChainBuilder& ChainBuilder::flatten() {
  add(make_flatten(store()), of_vector(static_cast<std::int64_t>(shape_.values())));
  return *this;
}

ChainBuilder& ChainBuilder::linear(const std::string& name, std::int64_t out, bool relu) {
  LOCKSTEP_CHECK(!shape_.is_image, "layer {} stands after an image", name);
  begin_unit(name);
  add(make_linear(store(), name, shape_.features, out, relu), of_vector(out));
  return *this;
}

ChainBuilder& ChainBuilder::dropout(const std::string& name, double probability) {
  if (probability > 0) add(make_dropout(store(), name, probability), shape_);
  return *this;
}

ChainBuilder& ChainBuilder::convolution(const std::string& name, std::int64_t channels, int kernel,
                                        int padding) {
  need_image("layer " + name);
  need_size("layer " + name, kernel - 2 * padding);
  const ConvolutionShape shape{shape_.image, channels, kernel, 1, padding};
  const auto initial = Initial::he(shape_.image.channels * kernel * kernel);
  begin_unit(name);
  add(make_convolution(store(), name, shape, initial), of_image(shape.out()));
  return *this;
}

ChainBuilder& ChainBuilder::norm(const std::string& name, NormShape shape) {
  shape.channels = shape_.image.channels;
  add(std::make_unique<Norm>(store(), name, shape), shape_);
  return *this;
}

ChainBuilder& ChainBuilder::max_pool(int size) {
  need_image("pooling");
  need_size("pooling", size);
  const auto [channels, height, width] = shape_.image;
  add(make_max_pool(store(), size), of_image({channels, height / size, width / size}));
  return *this;
}

ChainBuilder& ChainBuilder::average_pool(int size) {
  need_image("pooling");
  need_size("pooling", size);
  const auto [channels, height, width] = shape_.image;
  add(make_average_pool(store(), size), of_image({channels, height / size, width / size}));
  return *this;
}

ChainBuilder& ChainBuilder::global_pool() {
  need_image("pooling");
  add(make_global_pool(store()), of_vector(shape_.image.channels));
  return *this;
}

ChainBuilder& ChainBuilder::residual_block(const std::string& name, std::int64_t channels,
                                           int stride, NormShape norm) {
  need_image("block " + name);
  const BlockShape shape{shape_.image, channels, stride, norm};
  begin_unit(name);
  const bool opens = wanted();
  auto opening = std::make_unique<ResidualOpening>(store(), name, shape);
  count(*opening, of_image(shape.between()));
  shape_ = of_image(shape.between());
  begin_unit(name + ".conv2");
  const bool closes = wanted();
  auto closing = std::make_unique<ResidualClosing>(store(), name, shape);
  count(*closing, of_image(shape.out()));
  shape_ = of_image(shape.out());
  if (opens && closes) {
    layers_.push_back(
        std::make_unique<ResidualBlock>(parameters_, std::move(opening), std::move(closing)));
  } else if (opens) {
    layers_.push_back(std::move(opening));
  } else if (closes) {
    layers_.push_back(std::move(closing));
  }
  return *this;
}

std::vector<LayerPointer> ChainBuilder::classifier(const std::string& name) {
  if (settings_.data.classes < 2) {
    throw ConfigError(
        "model \"{}\" tells classes apart, and the data have {}: at least 2 are needed", network_,
        settings_.data.classes);
  }
  linear(name, settings_.data.classes, false);
  for (auto& layer : layers_) {
    if (wanted_.begin > 0) break;
    layer->set_first();
    if (layer->has_parameters()) break;
  }
  return std::move(layers_);
}

NormShape ChainBuilder::batch_norm() const {
  NormShape shape;
  const auto& asked = settings_.batch_norm;
  shape.shared = asked == "shared";
  shape.batch_only = asked == "batch-only";
  if (!shape.shared && !shape.batch_only && asked != "local") {
    throw ConfigError("unknown batch_norm \"{}\"; valid: local, shared, batch-only", asked);
  }
  return shape;
}

}  // namespace lockstep
