#include "lockstep/model/parameter_store.h"

#include <cmath>

#include "lockstep/base/random.h"

namespace lockstep {

Initial Initial::he(std::int64_t fan_in) {
  return normal(std::sqrt(2.0 / static_cast<double>(fan_in)));
}

std::size_t ParameterStore::declare(std::string name, std::vector<std::int64_t> shape,
                                    LayerKind kind, Initial initial) {
  initials_.push_back(initial);
  return flat_.declare_parameter(std::move(name), std::move(shape), kind);
}

std::size_t ParameterStore::declare_buffer(std::string name, std::vector<std::int64_t> shape,
                                           double value) {
  buffer_initials_.push_back(Initial::all(value));
  return flat_.declare_buffer(std::move(name), std::move(shape));
}

void ParameterStore::allocate(std::uint64_t seed, Precision precision) {
  flat_.allocate();
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
  return flat_.grads().subspan(layer.offset, layer.size);
}

}  // namespace lockstep
