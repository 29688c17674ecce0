// Accounts of all workers put together.
#pragma once

#include <vector>

#include "lockstep/train/learner.h"

namespace lockstep {

// Collective; the same on all.
std::vector<WorkerLedger> gather_ledgers(Group& group, const WorkerLedger& mine);
StalenessRecord sum_over(Group& group, const StalenessRecord& mine);

}  // namespace lockstep
