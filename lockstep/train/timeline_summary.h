// Where a step's time goes, as text: from summary.json of a finished run, and from its timeline if
// it has one.
#pragma once

#include <string>

#include "lockstep/train/run_directory.h"

namespace lockstep {

std::string timeline_summary(const RunPaths& run);

}  // namespace lockstep
