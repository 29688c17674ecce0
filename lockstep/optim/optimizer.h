// Optimizers on flat vectors: one fused pass over parameters, gradients and their own state. They
// know the model by its layers only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/base/layer.h"
#include "lockstep/base/registry.h"
#include "lockstep/base/state.h"

namespace lockstep {

// What the schedule says for one step.
struct Rates {
  double lr = 0;
  double weight_decay = 0;
  double epoch = 0;  // how far training is, for optimizers that change their ways on the way
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Once, before the first update: the layers cover 0 … n without gaps, in order.
  virtual void prepare(std::span<const Layer> layers) = 0;

  // One step for the layers first … last−1. `params` and `grads` are the whole vectors. A step may
  // come in several calls that cover all layers once (a bucket at a time); `step` counts from 0 and
  // may leave numbers out (steps that were skipped because a gradient overflowed).
  virtual void update(std::int64_t step, const Rates& rates, std::span<float> params,
                      std::span<const float> grads, std::size_t first, std::size_t last) = 0;

  // One step for the elements begin … begin + grads.size() − 1 alone; `params` is the whole vector,
  // `grads` has these elements. The same bits as update(). May come in any number of calls.
  virtual void update_part(std::int64_t step, const Rates& rates, std::span<float> params,
                           std::size_t begin, std::span<const float> grads) = 0;

  // Does the update of an element depend on the rest of its layer (LARS)? Then no layer may be cut.
  virtual bool whole_layers() const { return false; }

  virtual double base_lr() const = 0;  // the options lr and weight_decay, before the schedule
  virtual double base_weight_decay() const = 0;
  virtual void reset() = 0;  // forgets momentum and the like
  virtual void state(StateVisitor& visitor) = 0;
};

template <>
Registry<Optimizer>& Registry<Optimizer>::instance();

}  // namespace lockstep
