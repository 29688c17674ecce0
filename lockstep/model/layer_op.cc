#include "lockstep/model/layer_op.h"

#include "lockstep/base/error.h"

namespace lockstep {

std::vector<std::size_t> Pass::parts() const {
  return batch.parts.empty() ? std::vector{batch.size()} : batch.parts;
}

void Pass::round(const torch::Tensor& tensor) const {
  if (precision == Precision::kFloat || !tensor.defined()) return;
  LOCKSTEP_CHECK(tensor.is_non_overlapping_and_dense(), "a tensor with gaps cannot be rounded");
  round_to(precision, {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())});
}

void Pass::gradient_done(std::size_t index) const {
  const auto values = parameters.gradient_values(index);
  if (parameters.flat().layers()[index].kind != LayerKind::kNorm) round_to(precision, values);
  if (loss_scale != 1) {
    for (float& value : values) value /= loss_scale;
  }
  parameters.gradient_done(index);
  gradient_added(index);
}

void Pass::gradient_added(std::size_t index) const {
  if (on_layer != nullptr && *on_layer) (*on_layer)(index);
}

torch::Tensor LayerOp::forward(const torch::Tensor& x, const Pass& pass) {
  auto y = apply(x, pass);
  pass.round(y);
  return y;
}

torch::Tensor LayerOp::backward(const torch::Tensor& dy, const Pass& pass) {
  auto dx = differentiate(dy, pass);
  pass.round(dx);
  return dx;
}

}  // namespace lockstep
