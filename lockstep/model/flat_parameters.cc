#include "lockstep/model/flat_parameters.h"

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

std::size_t append(std::vector<Layer>& layers, std::string name, std::vector<std::int64_t> shape,
                   LayerKind kind) {
  std::size_t size = 1;
  for (const auto extent : shape) size *= static_cast<std::size_t>(extent);
  const std::size_t offset = layers.empty() ? 0 : layers.back().offset + layers.back().size;
  layers.push_back({std::move(name), offset, size, std::move(shape), kind});
  return layers.size() - 1;
}

std::vector<torch::Tensor> views_into(AlignedVector<float>& flat,
                                      const std::vector<Layer>& layers) {
  std::vector<torch::Tensor> views;
  for (const auto& layer : layers) {
    views.push_back(torch::from_blob(flat.data() + layer.offset, layer.shape, torch::kFloat));
  }
  return views;
}

}  // namespace

std::size_t FlatParameters::declare_parameter(std::string name, std::vector<std::int64_t> shape,
                                              LayerKind kind) {
  LOCKSTEP_CHECK(params_->empty(), "parameter {} declared after allocate()", name);
  return append(layers_, std::move(name), std::move(shape), kind);
}

std::size_t FlatParameters::declare_buffer(std::string name, std::vector<std::int64_t> shape) {
  LOCKSTEP_CHECK(params_->empty(), "buffer {} declared after allocate()", name);
  return append(buffers_, std::move(name), std::move(shape), LayerKind::kNorm);
}

void FlatParameters::allocate() {
  const auto zeros = [](const std::vector<Layer>& layers) {
    return AlignedVector<float>(layers.empty() ? 0 : layers.back().offset + layers.back().size);
  };
  *params_ = zeros(layers_);
  grads_ = zeros(layers_);
  buffer_values_ = zeros(buffers_);
  parameter_views_ = views_into(*params_, layers_);
  gradient_views_ = views_into(grads_, layers_);
  buffer_views_ = views_into(buffer_values_, buffers_);
}

void FlatParameters::use(std::shared_ptr<AlignedVector<float>> params) {
  LOCKSTEP_CHECK(params && params->size() == params_->size(), "{} parameters for {}",
                 params ? params->size() : 0, params_->size());
  params_ = std::move(params);
  parameter_views_ = views_into(*params_, layers_);
}

}  // namespace lockstep
