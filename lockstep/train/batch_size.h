// How many samples a worker takes a step, by whichever of batch, local_batch and effective_batch
// [train] gives.
#pragma once

#include <cstddef>
#include <optional>

#include "lockstep/sync/strategy.h"
#include "lockstep/train/config.h"

namespace lockstep {

struct BatchSize {
  std::size_t local = 0;
  // What linear scaling multiplies the rate by where an effective batch is given; else it goes by
  // the global batch.
  std::optional<double> scale;
};

// Writes local_batch and batch into the configuration. Throws a ConfigError where what is given
// does not go together or the strategy has no effective batch.
BatchSize settle_batch(Config& config, const SyncStrategy& strategy, int workers);

}  // namespace lockstep
