// y = x·Wᵀ + b, then ReLU if wanted. The three matrix products of a step write where their results
// belong; the ReLU works in place, and its mask is where the output is positive.
#include <algorithm>
#include <cmath>

#include "lockstep/model/layers.h"
#include "lockstep/model/outer_product.h"

namespace lockstep {
namespace {

class Linear : public LayerOp {
 public:
  Linear(ParameterStore& parameters, const std::string& name, std::int64_t in, std::int64_t out,
         bool relu)
      : LayerOp(parameters), in_(in), out_(out), relu_(relu) {
    const auto initial = relu ? Initial::he(in) : Initial::normal(std::sqrt(1.0 / double(in)));
    weight_ = parameters.declare(name + ".weight", {out, in}, LayerKind::kWeight, initial);
    bias_ = parameters.declare(name + ".bias", {out}, LayerKind::kBias, Initial::all(0));
  }

  torch::Tensor apply(const torch::Tensor& x, const Pass& pass) override {
    auto y = at::addmm(parameters_.value(bias_), x, parameters_.value(weight_).t());
    if (relu_) y.relu_();
    if (pass.training) {
      x_ = x;
      if (relu_) y_ = y;
    }
    return y;
  }

  torch::Tensor differentiate(const torch::Tensor& dy, const Pass& pass) override {
    auto masked = dy;  // the same memory
    if (relu_) at::threshold_backward_out(masked, dy, y_, 0);
    auto bias_gradient = parameters_.gradient(bias_);
    at::sum_out(bias_gradient, dy, 0);
    pass.gradient_done(bias_);
    differentiate_weights(dy, pass);
    x_.reset();
    y_.reset();
    return first() ? torch::Tensor() : at::mm(dy, parameters_.value(weight_));
  }

  void emit(ScriptWriter& script) const override {
    script.assign("torch.addmm(" + script.parameter(bias_) + ", x, torch.t(" +
                  script.parameter(weight_) + "))");
    if (relu_) script.assign("torch.relu(x)");
  }
  void add_operations(std::span<double> by_parameter) const override {
    by_parameter[weight_] += 2.0 * double(in_) * double(out_);
  }
  bool has_parameters() const override { return true; }

 private:
  void differentiate_weights(const torch::Tensor& dy, const Pass& pass) {
    if (parameters_.adds_up() && pass.precision == Precision::kFloat) {
      auto sum = parameters_.gradient_sum(weight_);
      at::addmm_out(sum, sum, dy.t(), x_);
      return pass.gradient_added(weight_);
    }
    make_weight_gradient(dy);
    pass.gradient_done(weight_);
  }

  void make_weight_gradient(const torch::Tensor& dy) {
    auto gradient = parameters_.gradient(weight_);
    const auto ready = [](const torch::Tensor& t) {
      return t.is_contiguous() && t.scalar_type() == torch::kFloat;
    };
    const auto batch = static_cast<std::size_t>(dy.size(0)), out = static_cast<std::size_t>(out_);
    if (!OuterProduct::possible(batch, static_cast<std::size_t>(in_)) || !ready(dy) || !ready(x_) ||
        !ready(gradient)) {
      at::mm_out(gradient, dy.t(), x_);
      return;
    }
    product_.pack(batch, static_cast<std::size_t>(in_), x_.data_ptr<float>());
    constexpr std::size_t kRows = OuterProduct::kRows;
    const auto blocks = static_cast<std::int64_t>((out + kRows - 1) / kRows);
    at::parallel_for(0, blocks, 8, [&](std::int64_t begin, std::int64_t end) {
      product_.make_rows(static_cast<std::size_t>(begin) * kRows,
                         std::min(out, static_cast<std::size_t>(end) * kRows), out,
                         dy.data_ptr<float>(), gradient.data_ptr<float>());
    });
  }

  std::int64_t in_, out_;
  bool relu_;
  std::size_t weight_, bias_;
  torch::Tensor x_, y_;
  OuterProduct product_;
};

}  // namespace

LayerPointer make_linear(ParameterStore& parameters, const std::string& name, std::int64_t in,
                         std::int64_t out, bool relu) {
  return std::make_unique<Linear>(parameters, name, in, out, relu);
}

}  // namespace lockstep
