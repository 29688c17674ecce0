// The two halves of the ring, which other algorithms use on rows, columns and masters.
//
// Members stand in a circle and send to the next one only. The vector is cut into M chunks.
// Share-reduce: in step s member p sends chunk p−s on and combines chunk p−s−1 that arrives; after
// M−1 steps member p holds the finished chunk p+1. Share-only: in step s member p sends chunk
// p+1−s on and replaces chunk p−s; after M−1 steps everybody holds everything.
#pragma once

#include <span>

#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/chunks.h"
#include "lockstep/collective/group.h"

namespace lockstep {

// The chunk that member p has finished after share-reduce.
int ring_chunk_of(int member, int ranks);

// `shift` renames the chunks: member p then ends with chunk p+1+shift.
void ring_share_reduce(Group& group, std::span<float> data, const Reduction& reduction,
                       int shift = 0, const char* phase = "share-reduce");
void ring_share_only(Group& group, std::span<float> data, const char* phase = "share-only");

// What member p of a ring sends in one of the halves, in floats.
std::size_t ring_share_reduce_sends(int member, int ranks, std::size_t n);
std::size_t ring_share_only_sends(int member, int ranks, std::size_t n);

}  // namespace lockstep
