// How the workers of a run lie on its ranks. Several workers may be computed by one rank as one
// large batch: in synchronous mode they have the same weights, and 16 workers on 2 cores are the
// everyday case.
#pragma once

#include "lockstep/model/replica.h"
#include "lockstep/sync/strategy.h"
#include "lockstep/train/config.h"

namespace lockstep {

struct Placement {
  int workers = 1;
  int merge = 1;    // workers computed together by one rank
  int servers = 0;  // ranks behind the workers' that hold the server's shards and do not train
  int stages = 1;   // that the model is cut into, each on worker_ranks() ranks of its own
  int worker_ranks() const { return workers / merge; }
  int training_ranks() const { return worker_ranks() * stages; }
  int ranks() const { return training_ranks() + servers; }
  // `rank` among those of a stage.
  int first_worker(int rank) const { return rank * merge; }
  // Of any rank that trains: "3", "8-15", or "3, stage 1".
  std::string name_of(int rank) const;
};

// Also settles [aggregate] via and [cluster] merge. `model` and the strategy's `traits` say whether
// workers may be computed together; `ranks_given` by mpirun, or 0. Throws a ConfigError that says
// what would fit.
Placement place_workers(Config& config, const ModelKind& model, const SyncTraits& traits,
                        int ranks_given);

}  // namespace lockstep
