// The MPI library's own all-reduce, for benchmarks that put it beside ours. Not for training: it
// waits inside MPI, where a rank that does not come is waited for for ever.
#pragma once

#include <span>

#include "lockstep/transport/transport.h"

namespace lockstep {

enum class MpiNativeOp { kSum, kMax, kMin };

// False, and nothing done, unless the transport is one of the mpi world.
bool mpi_allreduce(Transport& transport, std::span<float> values, MpiNativeOp op);

}  // namespace lockstep
