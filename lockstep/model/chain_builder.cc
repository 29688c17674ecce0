#include "lockstep/model/chain_builder.h"

#include "lockstep/base/error.h"
#include "lockstep/model/residual_block.h"

namespace lockstep {

ChainBuilder::ChainBuilder(ParameterStore& parameters, const ModelSettings& settings,
                           std::string network)
    : parameters_(parameters), settings_(settings), network_(std::move(network)) {
  const DataShape& data = settings.data;
  if (data.kind == DataShape::Kind::kTokens) {
    throw ConfigError("model \"{}\" reads images or vectors, and the data are text: use \"lstm\"",
                      network_);
  }
  image_ = data.kind == DataShape::Kind::kImage;
  if (image_) {
    LOCKSTEP_CHECK(data.sample.size() == 3, "an image with {} extents", data.sample.size());
    shape_ = {data.sample[0], data.sample[1], data.sample[2]};
  }
  features_ = static_cast<std::int64_t>(data.values());
}

void ChainBuilder::need_image(const std::string& layer) const {
  if (!image_) {
    throw ConfigError(
        "model \"{}\" reads images, and the data are vectors of {} values ({} needs "
        "rows and columns): use \"mlp\" or \"logistic\"",
        network_, features_, layer);
  }
}

void ChainBuilder::need_size(const std::string& layer, std::int64_t size) const {
  if (std::min(shape_.height, shape_.width) < size) {
    throw ConfigError(
        "model \"{}\": images of {} × {} are too small: {} needs at least {} × {} "
        "where it stands, and {} × {} are left",
        network_, settings_.data.sample[1], settings_.data.sample[2], layer, size, size,
        shape_.height, shape_.width);
  }
}

ChainBuilder& ChainBuilder::flatten() {
  layers_.push_back(make_flatten(parameters_));
  if (image_) features_ = shape_.channels * shape_.height * shape_.width;
  image_ = false;
  return *this;
}

ChainBuilder& ChainBuilder::linear(const std::string& name, std::int64_t out, bool relu) {
  LOCKSTEP_CHECK(!image_, "layer {} stands after an image", name);
  layers_.push_back(make_linear(parameters_, name, features_, out, relu));
  features_ = out;
  return *this;
}

ChainBuilder& ChainBuilder::dropout(const std::string& name, double probability) {
  if (probability > 0) layers_.push_back(make_dropout(parameters_, name, probability));
  return *this;
}

ChainBuilder& ChainBuilder::convolution(const std::string& name, std::int64_t channels, int kernel,
                                        int padding) {
  need_image("layer " + name);
  need_size("layer " + name, kernel - 2 * padding);
  const ConvolutionShape shape{shape_, channels, kernel, 1, padding};
  layers_.push_back(
      make_convolution(parameters_, name, shape, Initial::he(shape_.channels * kernel * kernel)));
  shape_ = shape.out();
  return *this;
}

ChainBuilder& ChainBuilder::norm(const std::string& name, NormShape shape) {
  shape.channels = shape_.channels;
  layers_.push_back(std::make_unique<Norm>(parameters_, name, shape));
  return *this;
}

ChainBuilder& ChainBuilder::max_pool(int size) {
  need_image("pooling");
  need_size("pooling", size);
  layers_.push_back(make_max_pool(parameters_, size));
  shape_ = {shape_.channels, shape_.height / size, shape_.width / size};
  return *this;
}

ChainBuilder& ChainBuilder::average_pool(int size) {
  need_image("pooling");
  need_size("pooling", size);
  layers_.push_back(make_average_pool(parameters_, size));
  shape_ = {shape_.channels, shape_.height / size, shape_.width / size};
  return *this;
}

ChainBuilder& ChainBuilder::global_pool() {
  need_image("pooling");
  layers_.push_back(make_global_pool(parameters_));
  features_ = shape_.channels;
  image_ = false;
  return *this;
}

ChainBuilder& ChainBuilder::residual_block(const std::string& name, std::int64_t channels,
                                           int stride, NormShape norm) {
  need_image("block " + name);
  layers_.push_back(
      std::make_unique<ResidualBlock>(parameters_, name, shape_, channels, stride, norm));
  shape_ = ConvolutionShape{shape_, channels, 3, stride, 1}.out();
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
