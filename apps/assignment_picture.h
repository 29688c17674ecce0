// Who has what, and how much any two workers have in common, from the shards alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/assign/assignment.h"

namespace lockstep {

// worker × worker: samples that both have; on the diagonal the size of the shard.
using Intersections = std::vector<std::vector<std::size_t>>;
Intersections intersections(const Shards& shards, std::size_t samples);

enum class Across {
  kHolders,  // samples that are on the same workers stand together
  kSample,   // by number
  kLabel,    // by class
};

// A line a worker, samples from left to right; the darker, the larger the share of them that the
// worker has. The samples are those with numbers 0 … labels.size()−1.
std::vector<std::string> draw_shards(const Shards& shards, const std::vector<std::int64_t>& labels,
                                     Across across, int columns);

}  // namespace lockstep
