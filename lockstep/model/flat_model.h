// What learns, seen without torch: flat vectors of parameters, gradients and buffers (running
// statistics), and the layers that they consist of.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/base/layer.h"
#include "lockstep/base/state.h"
#include "lockstep/data/batch.h"

namespace lockstep {

struct PassResult {
  double loss = 0;          // mean over the labels of the batch, without the weight
  std::size_t labels = 0;   // how many labels there were
  std::size_t correct = 0;  // how many of them were predicted
};

// Called when backward has finished the gradient of layers()[index], each index once a pass; and
// before that, if the model can tell, with kForwardOver.
using LayerReady = std::function<void(std::size_t index)>;
inline constexpr std::size_t kForwardOver = ~std::size_t{0};

inline constexpr double kReferenceCore = 50e9;  // operations a second, of modelled_seconds()

using SharedParameters = std::shared_ptr<AlignedVector<float>>;

class FlatModel {
 public:
  virtual ~FlatModel() = default;

  virtual std::span<float> params() = 0;
  virtual std::span<float> grads() = 0;
  virtual std::span<float> buffers() = 0;  // running statistics of batch norm; may be empty
  virtual std::span<const Layer> layers() const = 0;

  // Replicas of one process that are always equal can do with one copy of their parameters. Where
  // a replica keeps them, if it can also compute with another's; else null.
  virtual SharedParameters shared_params() { return nullptr; }
  // Computes with these from now on. Only what shared_params() of an equal replica has given.
  virtual void use_params(SharedParameters) {}

  // To be called after params() were changed from outside (update, average, restore).
  virtual void apply_update() {}

  // What is not in params() and buffers() but must be in a checkpoint, such as the loss scale.
  virtual void state(StateVisitor&) {}

  // Seconds that forward and backward of one sample take on the reference core: what a simulated
  // host is charged. Deterministic.
  virtual double modelled_seconds() const = 0;
  // The part of it that backward spends on each of layers(). Empty: not known layer by layer.
  virtual std::span<const double> backward_seconds() const { return {}; }

  // One remark a line for the user: how 16-bit precision is done here, and the like.
  virtual std::vector<std::string> remarks() const { return {}; }
};

}  // namespace lockstep
