// A worker's copy of a model, seen without torch: its flat vectors, and a pass over a batch that
// fills the gradients.
#pragma once

#include "lockstep/base/range.h"
#include "lockstep/base/registry.h"
#include "lockstep/model/flat_model.h"
#include "lockstep/model/stage.h"

namespace lockstep {

// Adds up the vector over the workers that share batch-norm statistics with this one.
using StatisticsSum = std::function<void(std::span<float>)>;

// Of all passes, where a model lies on several ranks, seen from one of them.
struct PassTimes {
  double forward = 0, backward = 0, waited = 0;  // seconds; for messages of the other ranks
  std::uint64_t sent = 0;                        // bytes to them
};

class Replica : public FlatModel {
 public:
  // Forward and backward in training mode. Afterwards grads() is `weight` times the gradient of the
  // mean loss (overwritten, not added to). An empty batch gives zeros.
  virtual PassResult forward_backward(const Batch& batch, float weight,
                                      const LayerReady& on_layer = {}) = 0;
  // Loss and hits in evaluation mode; changes nothing.
  virtual PassResult evaluate(const Batch& batch) = 0;
  // The scores of all classes for every label, labels × classes, in evaluation mode; changes
  // nothing. A ConfigError, for an empty batch too, where the model has none to give.
  virtual void predict(const Batch& batch, std::span<float> scores);

  // Does it charge a simulated clock itself, as it goes?
  virtual bool keeps_time() const { return false; }
  virtual const PassTimes* pass_times() const { return nullptr; }  // null: it lies on one rank

  // fp16 scales its loss so that small gradients survive; now and then they overflow instead. Where
  // the average over the workers is not finite, all of them skip the update and say so here.
  virtual bool may_overflow() const { return false; }
  virtual void report_overflow(bool /*overflowed*/) {}

  // Batch norm over several workers; only where `settings.shared_statistics` was set.
  virtual void share_statistics(StatisticsSum, int /*workers*/) {}

  virtual bool saves() const { return true; }  // is there anything to save?
  // Writes what Python's torch.jit.load opens. Models that cannot say why (ConfigError).
  virtual void save(const std::string& path) = 0;
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

  // The parts between which it can be cut, in order; empty: it cannot be cut.
  virtual std::vector<ModelUnit> units(const ModelSettings&) const { return {}; }
  // Some consecutive ones alone, with the parameters that they have in the whole.
  virtual std::unique_ptr<Stage> make_stage(const ModelSettings& settings, Range units) const;
};

template <>
Registry<ModelKind>& Registry<ModelKind>::instance();

}  // namespace lockstep
