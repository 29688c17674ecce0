// A torch network whose parameters, gradients and running statistics are views into flat vectors.
// Autograd adds to the gradients in place; hooks say which layer it has finished.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

#include "lockstep/base/state.h"
#include "lockstep/model/flat_parameters.h"

namespace lockstep {

struct NamedTensor {
  std::string name;
  torch::Tensor tensor;
};

// What must be known of a network to train it. It belongs to its replica from then on.
struct TrainableModule {
  std::string title;  // "the TorchScript module net.pt": how errors call it
  std::vector<NamedTensor> parameters;
  // As they are now: a TorchScript module may put a new tensor in the place of a buffer.
  std::function<std::vector<NamedTensor>()> buffers;
  std::function<torch::Tensor(const torch::Tensor&)> forward;
  std::function<void(bool training)> set_training;
  std::function<void(const std::string& path)> save;
  bool draws_random_numbers = false;  // dropout, from torch's generator
  double forward_flops = 0;           // of a sample; 0: counted when the module is tried
  std::vector<std::string> remarks;
};

// Only parameters that require a gradient are trained; the others stay as they are. Buffers of
// 32-bit floats become flat; the others (batch norm's count of batches) cannot be averaged and are
// in state() only. Values stay what they were.
class FlatModule {
 public:
  using LayerDone = std::function<void(std::size_t layer)>;

  // `done` is called from within backward. With `computes_with_copies` the module computes with
  // copies() in the place of the parameters.
  FlatModule(TrainableModule module, bool computes_with_copies, LayerDone done);
  FlatModule(const FlatModule&) = delete;
  FlatModule& operator=(const FlatModule&) = delete;

  const TrainableModule& module() const { return module_; }
  FlatParameters& flat() { return flat_; }
  const FlatParameters& flat() const { return flat_; }
  std::span<float> copies() { return copies_; }
  bool has_batch_norm() const;

  // After a pass: gradients must still be views, buffers are made views again.
  void check_gradients() const;
  void keep_buffers_flat();

  void state(StateVisitor& visitor);  // buffers that are not flat

 private:
  void declare_parameters();
  void declare_buffers();
  void attach_parameters(const LayerDone& done);

  TrainableModule module_;
  FlatParameters flat_;
  AlignedVector<float> copies_;
  std::vector<torch::Tensor> trained_;                                // one a layer
  std::vector<std::size_t> float_buffers_, other_buffers_;            // places in module_.buffers()
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;  // keep the hooks alive
};

}  // namespace lockstep
