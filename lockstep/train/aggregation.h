// Does [aggregate] go with [sync]? Settles what is left to the program, and refuses in words what
// makes no sense.
#pragma once

#include <string>

#include "lockstep/sync/strategy.h"
#include "lockstep/train/config.h"

namespace lockstep {

// Sets via = "auto" to what the strategy needs.
void settle_aggregation(Config& config, const std::string& strategy, const SyncTraits& traits);

}  // namespace lockstep
