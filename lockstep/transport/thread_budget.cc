#include "lockstep/transport/thread_budget.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace lockstep {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int thread_budget(int ranks_on_host) {
  if (const char* asked = std::getenv("OMP_NUM_THREADS")) {
    const int threads = std::atoi(asked);
    if (threads > 0) return threads;
  }
  return std::max(1, usable_cores() / std::max(1, ranks_on_host));
}

namespace {

thread_local int applied = 0;

}  // namespace

int applied_thread_budget() {
  return applied;
}

// Looked up by name: this folder links none of them. The count is a setting of each thread, but
// OpenBLAS's own, which is the process's.
void apply_thread_budget(int threads) {
  applied = threads;
  for (const char* setter :
       {"omp_set_num_threads", "openblas_set_num_threads", "MKL_Set_Num_Threads"}) {
    if (void* symbol = dlsym(RTLD_DEFAULT, setter)) {
      reinterpret_cast<void (*)(int)>(symbol)(threads);
    }
  }
}

}  // namespace lockstep
