// Two convolutions around which the input is carried (He et al. 2016). Where a block halves the
// image, the input is carried by option A: every other row and column, new channels zero.
#pragma once

#include "lockstep/model/layers.h"
#include "lockstep/model/norm.h"

namespace lockstep {

class ResidualBlock : public LayerOp {
 public:
  // `norm` says which kind; its channels are those of the output.
  ResidualBlock(ParameterStore& parameters, const std::string& name, const ImageShape& in,
                std::int64_t out_channels, int stride, NormShape norm);

  void forward_without_samples(const Pass& pass) override;
  void backward_without_samples(const Pass& pass) override;
  void emit(ScriptWriter& script) const override;
  void add_operations(std::span<double> by_parameter) const override;
  bool has_parameters() const override { return true; }

 protected:
  torch::Tensor apply(const torch::Tensor& x, const Pass& pass) override;
  torch::Tensor differentiate(const torch::Tensor& dy, const Pass& pass) override;

 private:
  bool carried_as_it_is() const { return stride_ == 1 && in_.channels == out_.channels; }
  torch::Tensor carry(const torch::Tensor& x) const;
  void add_carried_gradient(const torch::Tensor& gradient, const torch::Tensor& dx) const;

  ImageShape in_, out_;
  int stride_;
  LayerPointer first_convolution_;
  std::unique_ptr<Norm> first_norm_;
  LayerPointer second_convolution_;
  std::unique_ptr<Norm> second_norm_;
};

}  // namespace lockstep
