// The whole model of a run on its first rank, to be saved: its replica itself, or one that is put
// together from the stages of the first worker.
#pragma once

#include <memory>

#include "lockstep/train/learner.h"

namespace lockstep {

// Keeps the model alive, if it is not the learner's own.
using WholeModel = std::shared_ptr<Replica>;

// Collective. Null but on the first rank.
WholeModel whole_model(Learner& learner, const Job& job);

}  // namespace lockstep
