// Where the time of a run went, as a user reads it at its end.
#pragma once

#include <string>

#include "lockstep/train/ledgers.h"
#include "lockstep/train/placement.h"

namespace lockstep {

// A row a worker rank, or the least, median and most where there are many. Ends with a newline.
std::string ledger_table(const std::vector<WorkerLedger>& ledgers, const Placement& placement);
// "staleness   mean 1.50, at most 4; 2 of 80 pushes rejected"; empty if nobody pushed.
std::string staleness_line(const StalenessRecord& record);

}  // namespace lockstep
