// Pooling over non-overlapping squares (largest value or average) and over whole images.
#include <fmt/format.h>

#include "lockstep/model/layers.h"

namespace lockstep {
namespace {

class MaxPool : public LayerOp {
 public:
  MaxPool(ParameterStore& parameters, int size) : LayerOp(parameters), size_(size) {}

  torch::Tensor apply(const torch::Tensor& x, const Pass& pass) override {
    auto [y, winners] = at::max_pool2d_with_indices(x, {size_, size_}, {size_, size_});
    if (pass.training) {
      x_ = x;
      winners_ = winners;
    }
    return y;
  }
  torch::Tensor differentiate(const torch::Tensor& dy, const Pass&) override {
    auto dx = at::max_pool2d_with_indices_backward(dy, x_, {size_, size_}, {size_, size_}, {0, 0},
                                                   {1, 1}, false, winners_);
    x_.reset();
    winners_.reset();
    return dx;
  }
  void emit(ScriptWriter& script) const override {
    script.assign(fmt::format("torch.max_pool2d(x, [{0}, {0}], [{0}, {0}])", size_));
  }

 private:
  int size_;
  torch::Tensor x_, winners_;
};

class AveragePool : public LayerOp {
 public:
  AveragePool(ParameterStore& parameters, int size) : LayerOp(parameters), size_(size) {}

  torch::Tensor apply(const torch::Tensor& x, const Pass& pass) override {
    if (pass.training) x_ = x;
    return at::avg_pool2d(x, {size_, size_}, {size_, size_});
  }
  torch::Tensor differentiate(const torch::Tensor& dy, const Pass&) override {
    auto dx =
        at::avg_pool2d_backward(dy, x_, {size_, size_}, {size_, size_}, {0, 0}, false, true, {});
    x_.reset();
    return dx;
  }
  void emit(ScriptWriter& script) const override {
    script.assign(fmt::format("torch.avg_pool2d(x, [{0}, {0}], [{0}, {0}])", size_));
  }

 private:
  int size_;
  torch::Tensor x_;
};

class GlobalPool : public LayerOp {
 public:
  using LayerOp::LayerOp;

  torch::Tensor apply(const torch::Tensor& x, const Pass&) override {
    height_ = x.size(2);
    width_ = x.size(3);
    return x.mean({2, 3});
  }
  torch::Tensor differentiate(const torch::Tensor& dy, const Pass&) override {
    return (dy / double(height_ * width_))
        .unsqueeze(2)
        .unsqueeze(3)
        .expand({dy.size(0), dy.size(1), height_, width_})
        .contiguous(at::MemoryFormat::ChannelsLast);
  }
  void emit(ScriptWriter& script) const override { script.assign("torch.mean(x, [2, 3])"); }

 private:
  std::int64_t height_ = 0, width_ = 0;
};

}  // namespace

LayerPointer make_max_pool(ParameterStore& parameters, int size) {
  return std::make_unique<MaxPool>(parameters, size);
}

LayerPointer make_average_pool(ParameterStore& parameters, int size) {
  return std::make_unique<AveragePool>(parameters, size);
}

LayerPointer make_global_pool(ParameterStore& parameters) {
  return std::make_unique<GlobalPool>(parameters);
}

}  // namespace lockstep
