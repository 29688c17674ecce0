// y = x·Wᵀ + b, then ReLU if wanted. The three matrix products of a step write where their results
// belong; the ReLU works in place, and its mask is where the output is positive.
#include <cmath>

#include "lockstep/model/layers.h"

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
    auto weight_gradient = parameters_.gradient(weight_);
    at::mm_out(weight_gradient, dy.t(), x_);
    pass.gradient_done(weight_);
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
  std::int64_t in_, out_;
  bool relu_;
  std::size_t weight_, bias_;
  torch::Tensor x_, y_;
};

}  // namespace

LayerPointer make_linear(ParameterStore& parameters, const std::string& name, std::int64_t in,
                         std::int64_t out, bool relu) {
  return std::make_unique<Linear>(parameters, name, in, out, relu);
}

}  // namespace lockstep
