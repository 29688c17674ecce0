// How ranks begin: with a replica of their own and the same parameters as everybody.
#pragma once

#include <memory>

#include "lockstep/collective/group.h"
#include "lockstep/train/job.h"

namespace lockstep {

// With the compute threads that are this rank's share.
std::unique_ptr<Replica> make_replica(Transport& transport, const Job& job);

// Collective over all ranks, those that only serve too. A ConfigError if they were not started with
// the same configuration; afterwards all have the first rank's parameters and buffers.
void start_equal(Group& everyone, const Job& job, Replica& replica);

}  // namespace lockstep
