// How ranks begin: with a replica of their own and the same parameters as everybody.
#pragma once

#include <memory>

#include "lockstep/collective/group.h"
#include "lockstep/train/job.h"

namespace lockstep {

// With the compute threads that are this rank's share.
ModelSettings settings_for(Transport& whole, const Job& job);
// Of a model that is not cut.
std::unique_ptr<Replica> make_replica(Transport& whole, const Job& job);

// Collective over all ranks, those that only serve too. A ConfigError if they were not started with
// the same configuration. `parameters`: of the whole model.
void agree_on_run(Group& everyone, const Job& job, std::size_t parameters);
// Collective. All members have the parameters and buffers of the first.
void start_equal(Group& group, Replica& replica);

}  // namespace lockstep
