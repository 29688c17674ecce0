// Images become vectors as they lie in memory (row, column, channel), so that nothing is moved.
#include "lockstep/model/layers.h"

namespace lockstep {
namespace {

class Flatten : public LayerOp {
 public:
  using LayerOp::LayerOp;

  torch::Tensor apply(const torch::Tensor& x, const Pass&) override {
    shape_ = x.sizes().vec();
    if (x.dim() != 4) return x.flatten(1);
    return x.permute({0, 2, 3, 1}).flatten(1);
  }
  torch::Tensor differentiate(const torch::Tensor& dy, const Pass&) override {
    if (shape_.size() != 4) return dy.view(shape_);
    return dy.view({shape_[0], shape_[2], shape_[3], shape_[1]}).permute({0, 3, 1, 2});
  }
  void emit(ScriptWriter& script) const override {
    script.line("if x.dim() == 4:");
    script.line("    x = torch.permute(x, [0, 2, 3, 1])");
    script.assign("torch.flatten(x, 1)");
  }

 private:
  std::vector<std::int64_t> shape_;
};

}  // namespace

LayerPointer make_flatten(ParameterStore& parameters) {
  return std::make_unique<Flatten>(parameters);
}

}  // namespace lockstep
