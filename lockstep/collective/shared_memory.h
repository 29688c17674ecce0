// Reductions straight in memory that all members see: nothing is sent. Each member reduces one
// slice of the vector, reading it from all buffers and writing the result where it belongs.
//
// Between threads the buffers themselves are used. Between processes only windows are shared, so
// vectors pass through them in segments small enough to stay in the cache.
#pragma once

#include <span>

#include "lockstep/collective/reduce_op.h"
#include "lockstep/transport/shared_space.h"

namespace lockstep {

// Members combine in their order: ((x0+x1)+x2)+…
void shared_all_reduce(SharedSpace& space, std::span<float> data, const Reduction& reduction);
// To member 0, in the order of tree_reduce(): the same bits. The others keep partial results.
void shared_tree_reduce(SharedSpace& space, std::span<float> data, const Reduction& reduction);
// From member 0.
void shared_broadcast(SharedSpace& space, std::span<float> data);

}  // namespace lockstep
