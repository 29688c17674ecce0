// All ranks of a run, those that train and those that only serve, and what they do together: rest,
// save, and end.
#pragma once

#include "lockstep/train/checkpoint.h"
#include "lockstep/train/run_directory.h"
#include "lockstep/train/serving.h"

namespace lockstep {

Group group_of_everyone(Transport& transport);

// What the first worker wants of all ranks while the server rests.
enum class RestFor { kSaving, kEnd };

// Collective over everyone; the first rank's word counts.
RestFor agree_to_rest(Group& everyone, RestFor wish = RestFor::kSaving);

// Collective over everyone. Who came when, since the last call, at each place where that counts; at
// the first rank, elsewhere empty.
ArrivalRecord gather_arrivals(Group& everyone, const Job& job, std::vector<int> mine);

// The whole life of a rank that holds a shard and does not train. `resume`: from the newest
// checkpoint.
void serve_only(Transport& transport, const Job& job, const RunPaths& paths, bool resume);

}  // namespace lockstep
