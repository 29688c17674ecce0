// When workers agree. A strategy is asked after every backward pass: it averages what it averages
// and lets the optimizer take its step.
#pragma once

#include <cstdint>

#include "lockstep/base/registry.h"
#include "lockstep/base/state.h"
#include "lockstep/model/replica.h"
#include "lockstep/optim/optimizer.h"
#include "lockstep/sync/communicator.h"

namespace lockstep {

// One worker at one step: the replica's gradients are those of its own batch.
struct SyncStep {
  Replica& replica;
  Optimizer& optimizer;
  Communicator& communicator;
  std::int64_t index = 0;  // counts from 0
  Rates rates;
};

class SyncStrategy {
 public:
  virtual ~SyncStrategy() = default;
  virtual void step(SyncStep& step) = 0;
  // After the last step: leaves one consistent model on all workers.
  virtual void finish(SyncStep& last) = 0;
  // Do all workers hold the same parameters now? Only then is there a model to validate.
  virtual bool consistent_now() const = 0;
  virtual void state(StateVisitor& visitor) = 0;
};

template <>
Registry<SyncStrategy>& Registry<SyncStrategy>::instance();

}  // namespace lockstep
