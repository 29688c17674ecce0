// How an MPI process ends: politely when all went well, at once when a run failed.
#pragma once

namespace lockstep {

// Calls MPI_Finalize when the process exits. After a failure it makes sure first that the others
// come too, for MPI_Finalize would wait for them for ever.
void finish_mpi_at_exit();

}  // namespace lockstep
