// Two convolutions around which the input is carried (He et al. 2016). Where a block halves the
// image, the input is carried by option A: every other row and column, new channels zero.
//
// A block is two halves. Where a network is cut between them, what is carried crosses the cut with
// the rest: as further channels of the image.
#pragma once

#include <utility>

#include "lockstep/model/layers.h"
#include "lockstep/model/norm.h"

namespace lockstep {

struct BlockShape {
  ImageShape in;
  std::int64_t out_channels = 0;
  int stride = 1;
  NormShape norm;  // which kind

  ConvolutionShape first() const { return {in, out_channels, 3, stride, 1}; }
  ConvolutionShape second() const { return {out(), out_channels, 3, 1, 1}; }
  ImageShape out() const { return first().out(); }
  ImageShape between() const { return {2 * out().channels, out().height, out().width}; }
  bool carried_as_it_is() const { return stride == 1 && in.channels == out_channels; }
};

// What the first half gives, or the gradients of that.
struct Halfway {
  torch::Tensor computed, carried;
};

// A convolution and the normalisation behind it.
class HalfBlock : public LayerOp {
 public:
  void forward_without_samples(const Pass& pass) override { norm_->forward_without_samples(pass); }
  void backward_without_samples(const Pass& pass) override {
    norm_->backward_without_samples(pass);
  }
  void add_operations(std::span<double> by_parameter) const override {
    convolution_->add_operations(by_parameter);
  }
  bool has_parameters() const override { return true; }

 protected:
  HalfBlock(ParameterStore& parameters, const BlockShape& shape, LayerPointer convolution,
            const std::string& norm);

  BlockShape shape_;
  LayerPointer convolution_;
  std::unique_ptr<Norm> norm_;
};

class ResidualOpening : public HalfBlock {
 public:
  ResidualOpening(ParameterStore& parameters, const std::string& name, const BlockShape& shape);

  Halfway open(const torch::Tensor& x, const Pass& pass);
  torch::Tensor open_backward(const Halfway& gradient, const Pass& pass);
  void emit(ScriptWriter& script) const override;

 protected:
  torch::Tensor apply(const torch::Tensor& x, const Pass& pass) override;
  torch::Tensor differentiate(const torch::Tensor& dy, const Pass& pass) override;

 private:
  torch::Tensor carry(const torch::Tensor& x) const;
  void add_carried_gradient(const torch::Tensor& gradient, const torch::Tensor& dx) const;
};

class ResidualClosing : public HalfBlock {
 public:
  ResidualClosing(ParameterStore& parameters, const std::string& name, const BlockShape& shape);

  torch::Tensor close(const Halfway& half, const Pass& pass);
  Halfway close_backward(const torch::Tensor& dy, const Pass& pass);
  void emit(ScriptWriter& script) const override;
  int tensors_kept() const override { return 2; }

 protected:
  torch::Tensor apply(const torch::Tensor& x, const Pass& pass) override;
  torch::Tensor differentiate(const torch::Tensor& dy, const Pass& pass) override;
};

class ResidualBlock : public LayerOp {
 public:
  ResidualBlock(ParameterStore& parameters, std::unique_ptr<ResidualOpening> opening,
                std::unique_ptr<ResidualClosing> closing)
      : LayerOp(parameters), opening_(std::move(opening)), closing_(std::move(closing)) {}

  void forward_without_samples(const Pass& pass) override;
  void backward_without_samples(const Pass& pass) override;
  void emit(ScriptWriter& script) const override;
  void add_operations(std::span<double> by_parameter) const override;
  bool has_parameters() const override { return true; }

 protected:
  torch::Tensor apply(const torch::Tensor& x, const Pass& pass) override {
    return closing_->close(opening_->open(x, pass), pass);
  }
  torch::Tensor differentiate(const torch::Tensor& dy, const Pass& pass) override {
    return opening_->open_backward(closing_->close_backward(dy, pass), pass);
  }

 private:
  std::unique_ptr<ResidualOpening> opening_;
  std::unique_ptr<ResidualClosing> closing_;
};

}  // namespace lockstep
