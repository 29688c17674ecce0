// Evaluates what a run has learnt so far: its newest checkpoint, on the data of its configuration.
#pragma once

#include <cstdint>
#include <string>

#include "lockstep/train/config.h"
#include "lockstep/train/evaluation.h"
#include "lockstep/transport/world.h"

namespace lockstep {

struct RunEvaluation {
  std::int64_t step = 0;
  double epoch = 0;
  Tallies validation, test;
  std::vector<std::string> remarks;  // damaged checkpoints that were passed over
};

// `directory` as `lockstep train` left it; DataError if there is no checkpoint in it.
RunEvaluation evaluate_run(World& world, const Config& config, const std::string& directory);

}  // namespace lockstep
