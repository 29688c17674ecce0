#include "lockstep/model/parameter_store.h"

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"

namespace lockstep {
namespace {

std::size_t number_of(const std::string& name, const std::vector<Layer>& layers) {
  const auto found = std::ranges::find(layers, name, &Layer::name);
  LOCKSTEP_CHECK(found != layers.end(), "{} was not declared before", name);
  return static_cast<std::size_t>(found - layers.begin());
}

}  // namespace

Initial Initial::he(std::int64_t fan_in) {
  return normal(std::sqrt(2.0 / static_cast<double>(fan_in)));
}

std::size_t ParameterStore::declare(std::string name, std::vector<std::int64_t> shape,
                                    LayerKind kind, Initial initial) {
  if (allocated_) return number_of(name, flat_.layers());
  initials_.push_back(initial);
  return flat_.declare_parameter(std::move(name), std::move(shape), kind);
}

std::size_t ParameterStore::declare_buffer(std::string name, std::vector<std::int64_t> shape,
                                           double value) {
  if (allocated_) return number_of(name, flat_.buffer_layers());
  buffer_initials_.push_back(Initial::all(value));
  return flat_.declare_buffer(std::move(name), std::move(shape));
}

void ParameterStore::allocate(std::uint64_t seed, Precision precision) {
  flat_.allocate();
  allocated_ = true;
  precision_ = precision;
  for (std::size_t i = 0; i < initials_.size(); ++i) {
    const Layer& layer = flat_.layers()[i];
    Random random(seed, "init " + layer.name);
    for (float& value : flat_.params().subspan(layer.offset, layer.size)) {
      const double noise = initials_[i].deviation > 0 ? random.normal() : 0;
      value = static_cast<float>(initials_[i].constant + initials_[i].deviation * noise);
    }
  }
  for (std::size_t i = 0; i < buffer_initials_.size(); ++i) {
    buffer(i).fill_(buffer_initials_[i].constant);
  }
  if (precision == Precision::kFloat) return;
  rounded_.resize(flat_.params().size());
  for (const Layer& layer : flat_.layers()) {
    rounded_views_.push_back(
        torch::from_blob(rounded_.data() + layer.offset, layer.shape, torch::kFloat));
  }
  refresh();
}

void ParameterStore::refresh() {
  if (precision_ == Precision::kFloat) return;
  std::memcpy(rounded_.data(), flat_.params().data(), flat_.params().size_bytes());
  for (const Layer& layer : flat_.layers()) {
    if (layer.kind == LayerKind::kNorm) continue;
    round_to(precision_, std::span(rounded_).subspan(layer.offset, layer.size));
  }
}

torch::Tensor ParameterStore::value(std::size_t index) const {
  return precision_ == Precision::kFloat ? master(index) : rounded_views_[index];
}

std::span<float> ParameterStore::gradient_values(std::size_t index) {
  const Layer& layer = flat_.layers()[index];
  if (!adds_) return flat_.grads().subspan(layer.offset, layer.size);
  if (addend_.size() < layer.size) addend_.resize(layer.size);
  return std::span(addend_).first(layer.size);
}

torch::Tensor ParameterStore::gradient(std::size_t index) {
  if (!adds_) return flat_.gradient(index);
  return torch::from_blob(gradient_values(index).data(), flat_.layers()[index].shape,
                          torch::kFloat);
}

void ParameterStore::gradient_done(std::size_t index) {
  if (!adds_) return;
  const Layer& layer = flat_.layers()[index];
  float* const sum = flat_.grads().data() + layer.offset;
  for (std::size_t i = 0; i < layer.size; ++i) sum[i] += addend_[i];
}

}  // namespace lockstep
