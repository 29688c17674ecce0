// The building blocks beside all-reduce. All are collective over the group: every member calls
// them, in the same order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/collective/chunks.h"
#include "lockstep/collective/group.h"

namespace lockstep {

// Returns when every member has called it.
void barrier(Group& group);

// Everybody ends with the root's data.
void broadcast(Group& group, std::span<float> data, int root);

// The root ends with the reduction; what the others hold is used up.
void reduce(Group& group, std::span<float> data, ReduceOp op, int root);

// Member i ends with the finished chunk(n, size, i) in its place; the rest is used up.
Range reduce_scatter(Group& group, std::span<float> data, ReduceOp op);

// Vectors of one length, member after member. `all` holds size × mine; only the root's is written.
void gather(Group& group, std::span<const float> mine, std::span<float> all, int root);
void all_gather(Group& group, std::span<const float> mine, std::span<float> all);

using ByteBlocks = std::vector<AlignedVector<std::byte>>;  // one a member

// Everybody sends everybody bytes of whatever length: `to[i]` goes to member i. `from` ends with
// what came from each, in the memory that it has; nothing from oneself. All travel at once.
// A message of more than `most` bytes is a CommError.
void exchange_bytes(Group& group, std::span<const std::span<const std::byte>> to, std::size_t most,
                    ByteBlocks& from);

// What every member brought, of whatever length.
ByteBlocks all_gather_bytes(Group& group, std::span<const std::byte> mine);
std::vector<AlignedVector<float>> all_gather_varied(Group& group, std::span<const float> mine);
std::vector<std::string> all_gather_texts(Group& group, const std::string& mine);

}  // namespace lockstep
