// The network as an average among the workers finds it, measured after training: what compression
// has saved or cost can be told from it.
#pragma once

#include <string>

#include "lockstep/collective/all_reduce.h"
#include "lockstep/train/ledgers.h"

namespace lockstep {

struct Link {
  double latency = 0;  // seconds of a round, whatever its size
  double rate = 0;     // bytes a second that a worker sends
};

// Collective; the same on all.
Link measure_link(Group& group, const AllReduce& all_reduce);

// "compression  qsgd sent 11.2 times less; a step took …": did it help?
std::string compression_line(const std::string& compressors,
                             const std::vector<WorkerLedger>& ledgers, const Link& link);

}  // namespace lockstep
