// Starting mpirun for the user: `--world mpi` works without it on the command line.
#pragma once

namespace lockstep {

// Runs this program again, with the same arguments, as `ranks` processes under mpirun on this
// machine, and returns mpirun's exit code. Throws a ConfigError if there is no mpirun.
int run_under_mpirun(int ranks, int argc, char** argv);

}  // namespace lockstep
