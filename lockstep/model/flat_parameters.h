// The parameters, gradients and buffers of a network as three flat vectors, and tensors that are
// views into them. Declare everything, allocate once, then take the views.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/base/layer.h"

namespace lockstep {

class FlatParameters {
 public:
  // Both return the number under which the tensors are found after allocate().
  std::size_t declare_parameter(std::string name, std::vector<std::int64_t> shape, LayerKind kind);
  std::size_t declare_buffer(std::string name, std::vector<std::int64_t> shape);

  void allocate();  // everything zero
  // Where the parameters are; others with the same layers may use them too.
  const std::shared_ptr<AlignedVector<float>>& shared() const { return params_; }
  void use(std::shared_ptr<AlignedVector<float>> params);

  torch::Tensor parameter(std::size_t index) const { return parameter_views_[index]; }
  torch::Tensor gradient(std::size_t index) const { return gradient_views_[index]; }
  torch::Tensor buffer(std::size_t index) const { return buffer_views_[index]; }
  const std::vector<Layer>& layers() const { return layers_; }
  const std::vector<Layer>& buffer_layers() const { return buffers_; }

  std::span<float> params() { return *params_; }
  std::span<float> grads() { return grads_; }
  std::span<float> buffers() { return buffer_values_; }

 private:
  std::vector<Layer> layers_, buffers_;
  std::shared_ptr<AlignedVector<float>> params_ = std::make_shared<AlignedVector<float>>();
  AlignedVector<float> grads_, buffer_values_;
  std::vector<torch::Tensor> parameter_views_, gradient_views_, buffer_views_;
};

}  // namespace lockstep
