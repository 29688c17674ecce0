// What becomes of the optimizer's memory (velocity, moments) when parameters are averaged: it was
// gathered on the way to parameters that are no more.
#pragma once

#include "lockstep/base/options.h"
#include "lockstep/optim/optimizer.h"
#include "lockstep/sync/communicator.h"

namespace lockstep {

enum class OptimizerMemory {
  kLocal,    // each worker keeps its own
  kReset,    // all forget
  kAverage,  // averaged like the parameters
};

// The option "momentum" of strategies that average parameters.
void add_memory_option(OptionSet& options, const std::string& fallback = "local");
OptimizerMemory memory_option(const Options& options);

// The vectors that the memory consists of; valid until the optimizer is prepared or reset.
std::vector<std::span<float>> memory_of(Optimizer& optimizer);

// Collective over the communicator's members. Counts of updates stay as they are.
void average_memory(Optimizer& optimizer, Communicator& communicator);

}  // namespace lockstep
