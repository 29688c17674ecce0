// Reduce up a binomial tree and broadcast down it, in pieces: while a piece climbs, the next one
// follows a level behind. Used by the tree algorithm, by hierarchical and by reduce and broadcast.
//
//   7 members, root 0:        0
//                          1  2   4
//                             3  5 6      child = parent + 2^k, for 2^k below the parent's lowest
//                             bit
#pragma once

#include <span>

#include <boost/container/static_vector.hpp>

#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/group.h"

namespace lockstep {

int binomial_parent(int node);  // −1 for the root
using Children = boost::container::static_vector<int, 32>;
Children binomial_children(int node, int count);  // nearest first
int binomial_level(int node);                     // log2 of the distance to its parent
int tree_levels(int count);                       // ⌈log2 count⌉

// The result ends up at `root`; the vectors of the others hold partial results. Members combine
// their children nearest first: ((x0+x1)+(x2+x3))+…
void tree_reduce(Group& group, std::span<float> data, const Reduction& reduction, int root = 0,
                 const char* phase = "reduce up");
void tree_broadcast(Group& group, std::span<float> data, int root = 0,
                    const char* phase = "broadcast down");

// The same up and down for small things that are not floats: everybody ends with the root's bytes,
// into which merge(mine, theirs) has put everybody's.
using Merge = FunctionView<void(std::span<std::byte> mine, std::span<const std::byte> theirs)>;
void tree_merge(Group& group, std::span<std::byte> bytes, const Merge& merge);

}  // namespace lockstep
