// A layer of a network with its forward and backward written out. No graph is recorded: forward
// keeps what backward needs, backward writes the gradients of the parameters straight into the flat
// vector and announces each as soon as it is there.
//
// Images are tensors of shape N × C × H × W whose memory is channels-last; vectors are N ×
// features.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "lockstep/model/activation_memory.h"
#include "lockstep/model/parameter_store.h"
#include "lockstep/model/replica.h"
#include "lockstep/model/script_writer.h"

namespace lockstep {

// One forward, and in training backward, over a batch: what the layers must know about it.
struct Pass {
  ParameterStore& parameters;
  const Batch& batch;
  ActivationMemory& memory;
  bool training = false;
  std::uint64_t seed = 0;
  Precision precision = Precision::kFloat;
  float loss_scale = 1;  // gradients are this much too large until gradient_done() divides it out
  const StatisticsSum* statistics_sum = nullptr;
  const LayerReady* on_layer = nullptr;

  // Samples of each worker that is computed here; one entry, the whole batch, if there is one.
  std::vector<std::size_t> parts() const;
  // To the 16-bit numbers of the precision, in place.
  void round(const torch::Tensor& tensor) const;
  // The gradient of a parameter stands where ParameterStore::gradient() has its place.
  void gradient_done(std::size_t index) const;
  // It was added to ParameterStore::gradient_sum() already.
  void gradient_added(std::size_t index) const;
};

class LayerOp {
 public:
  explicit LayerOp(ParameterStore& parameters) : parameters_(parameters) {}
  virtual ~LayerOp() = default;
  LayerOp(const LayerOp&) = delete;
  LayerOp& operator=(const LayerOp&) = delete;

  torch::Tensor forward(const torch::Tensor& x, const Pass& pass);
  // Gives the gradient of x and forgets what forward kept. May overwrite dy.
  torch::Tensor backward(const torch::Tensor& dy, const Pass& pass);

  // Where this worker has no samples but others have: joins in what all workers must do together.
  virtual void forward_without_samples(const Pass&) {}
  virtual void backward_without_samples(const Pass&) {}

  // Adds the layer to the TorchScript source of forward.
  virtual void emit(ScriptWriter& script) const = 0;
  // Adds the operations of forward for one sample, a multiplication with its addition counted as
  // two, to the parameter that they are made with.
  virtual void add_operations(std::span<double> /*by_parameter*/) const {}
  virtual bool has_parameters() const { return false; }
  // Tensors of the size of its output that it keeps until backward.
  virtual int tensors_kept() const { return 1; }

  // Nothing before this layer learns, so nobody needs the gradient of x: backward gives none.
  void set_first() { first_ = true; }

 protected:
  virtual torch::Tensor apply(const torch::Tensor& x, const Pass& pass) = 0;
  virtual torch::Tensor differentiate(const torch::Tensor& dy, const Pass& pass) = 0;
  bool first() const { return first_; }
  ParameterStore& parameters_;

 private:
  bool first_ = false;
};

}  // namespace lockstep
