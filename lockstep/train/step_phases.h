// Where the time of a step goes, from the summary of a run.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/json_lines.h"
#include "lockstep/train/ledgers.h"

namespace lockstep {

struct StepPhase {
  const char* name;  // load, forward, backward, encode, wire, wait, decode, update
  double seconds;    // of a step, mean over the workers
};

// Throws what Json throws if the summary is not one.
std::vector<WorkerLedger> ledgers_of(const Json& summary);

// Where a companion encodes and decodes, that takes the worker no time.
std::vector<StepPhase> step_phases(const WorkerLedger& all);

}  // namespace lockstep
