// What a run is going to do, as a user reads it before it starts.
#pragma once

#include <string>

#include "lockstep/train/job.h"

namespace lockstep {

// Data, assignment, steps, parameters and bytes a step; a line each. Makes a replica to count.
std::string describe(const Job& job);
// "4 workers", "16 workers, computed 8 at a time by 2 ranks"
std::string describe(const Placement& placement);

}  // namespace lockstep
