// How the workers of a run lie on its ranks. Several workers may be computed by one rank as one
// large batch: in synchronous mode they have the same weights, and 16 workers on 2 cores are the
// everyday case.
#pragma once

#include "lockstep/train/config.h"

namespace lockstep {

struct Placement {
  int workers = 1;
  int merge = 1;  // workers computed together by one rank
  int ranks() const { return workers / merge; }
  int first_worker(int rank) const { return rank * merge; }
};

// `ranks_given` by mpirun, or 0. Throws a ConfigError that says what would fit.
Placement place_workers(const Config& config, bool mergeable, int ranks_given);

}  // namespace lockstep
