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
// the same configuration; afterwards those of a stage have the parameters and buffers of the first
// of them. `parameters`: of the whole model.
void start_equal(Group& everyone, Group& of_stage, const Job& job, Replica& replica,
                 std::size_t parameters);

}  // namespace lockstep
