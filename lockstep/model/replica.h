// A worker's copy of a model, seen without torch: flat vectors of parameters, gradients and buffers
// (running statistics), and a pass over a batch that fills the gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/base/layer.h"
#include "lockstep/base/registry.h"
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

using SharedParameters = std::shared_ptr<AlignedVector<float>>;

// Adds up the vector over the workers that share batch-norm statistics with this one.
using StatisticsSum = std::function<void(std::span<float>)>;

class Replica {
 public:
  virtual ~Replica() = default;

  // Forward and backward in training mode. Afterwards grads() is `weight` times the gradient of the
  // mean loss (overwritten, not added to). An empty batch gives zeros.
  virtual PassResult forward_backward(const Batch& batch, float weight,
                                      const LayerReady& on_layer = {}) = 0;
  // Loss and hits in evaluation mode; changes nothing.
  virtual PassResult evaluate(const Batch& batch) = 0;
  // The scores of all classes for every label, labels × classes, in evaluation mode; changes
  // nothing. A ConfigError, for an empty batch too, where the model has none to give.
  virtual void predict(const Batch& batch, std::span<float> scores);

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

  // fp16 scales its loss so that small gradients survive; now and then they overflow instead. Where
  // the average over the workers is not finite, all of them skip the update and say so here.
  virtual bool may_overflow() const { return false; }
  virtual void report_overflow(bool /*overflowed*/) {}

  // What is not in params() and buffers() but must be in a checkpoint, such as the loss scale.
  virtual void state(StateVisitor&) {}

  // Seconds that forward and backward of one sample take on the reference core (50 GFLOPS): what a
  // simulated host is charged. Deterministic.
  virtual double modelled_seconds() const = 0;
  // The part of it that backward spends on each of layers(). Empty: not known layer by layer.
  virtual std::span<const double> backward_seconds() const { return {}; }

  // Batch norm over several workers; only where `settings.shared_statistics` was set.
  virtual void share_statistics(StatisticsSum, int /*workers*/) {}

  virtual bool saves() const { return true; }  // is there anything to save?
  // Writes what Python's torch.jit.load opens. Models that cannot say why (ConfigError).
  virtual void save(const std::string& path) = 0;
  // One remark a line for the user: how 16-bit precision is done here, and the like.
  virtual std::vector<std::string> remarks() const { return {}; }
};

// What the run asks of a model, beside the model's own options.
struct ModelSettings {
  DataShape data;
  std::uint64_t seed = 1;
  std::string precision = "float";  // "float", "bf16", "fp16"
  double label_smoothing = 0;
  int threads = 1;  // compute threads of a pass
  std::string batch_norm =
      "local";  // "local", "shared" (share_statistics), "batch-only": without
                // moving averages, by the batch's statistics when evaluating too
};

// A model of the configuration: knows its options, makes replicas. Equal settings give replicas
// with equal bits, on every worker.
class ModelKind {
 public:
  virtual ~ModelKind() = default;
  // Throws a ConfigError if the data do not fit.
  virtual std::unique_ptr<Replica> make(const ModelSettings& settings) const = 0;
  // May several workers be computed as one large batch (Batch::parts)?
  virtual bool mergeable() const = 0;
};

template <>
Registry<ModelKind>& Registry<ModelKind>::instance();

}  // namespace lockstep
