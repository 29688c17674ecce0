// The program as one process of an MPI run; builds without MPI have the same functions, which do
// nothing then.
#pragma once

#include <span>
#include <string>

#include "lockstep/collective/reduce_op.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

// First thing in main(). Under mpirun this process splits into a worker, which returns, and its
// keeper, which does not.
void become_mpi_process(int argc, char** argv);
bool under_mpi();

// Starts this program again under mpirun, with the command line of main(); returns its exit code.
int run_again_under_mpirun(int ranks);

// Ends the process with a sentence for the user, printed once for all ranks, and an exit code.
[[noreturn]] void leave_with_error(int code, const std::string& message);

// The MPI library's own all-reduce, to compare with; false where there is none.
bool library_all_reduce(Transport& transport, std::span<float> data, ReduceOp op);

}  // namespace lockstep
