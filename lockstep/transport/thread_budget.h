// How many threads of OpenMP and BLAS a rank may use: the cores of the host shared out among its
// ranks. Without it every rank would start as many as there are cores, and they would fight.
#pragma once

namespace lockstep {

int usable_cores();                    // of this process, by its affinity mask
int thread_budget(int ranks_on_host);  // at least 1; OMP_NUM_THREADS, where set, is respected
// Sets it for the calling thread, for whichever of OpenMP, OpenBLAS and MKL is in the process.
void apply_thread_budget(int threads);
int applied_thread_budget();  // what was last set for the calling thread; 0: nothing

}  // namespace lockstep
