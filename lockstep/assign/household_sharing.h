// Shards for households: S_H shards, household h has shard h mod S_H and deals it to its workers.
#pragma once

#include "lockstep/assign/sharing.h"

namespace lockstep {

Shards share_among_households(const SampleSet& set, int workers, int households, int shards);

// The value of an option where 0 means what the layout says.
int option_or(std::int64_t option, int layout);

// So for the number of households. Throws a ConfigError if they would not be equal.
int households_or(const std::string& assignment, std::int64_t option, const Layout& layout);

}  // namespace lockstep
