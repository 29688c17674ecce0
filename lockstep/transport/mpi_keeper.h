// A process beside each worker that outlives it. When a worker is killed, MPI tells the other ranks
// nothing: mpirun just ends them. So the process that mpirun started forks, before MPI begins; the
// child is the worker, and the parent keeps it: passes on signals and the exit code, and if the
// worker was killed says so, with what the ranks of its host were doing, and ends with exit code 4.
#pragma once

namespace lockstep {

// Call first in main() when started_by_mpi(), before there are threads. Returns in the worker only.
// The keeper shows up in ps as "lockstep: keeper of rank 2".
void keep_worker(int argc, char** argv);

}  // namespace lockstep
