// Where to cut a chain of layers into stages: so that the slowest stage, or the slowest message
// between two, is as fast as can be (PipeDream's partitioning, Narayanan et al. 2019, without
// replication). Exact, by dynamic programming.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep {

// Of one layer and one micro-batch.
struct ChainLayer {
  std::string name;
  double forward = 0, backward = 0;  // seconds
  double sent_bytes = 0;             // what a cut behind this layer sends on
  double kept_bytes = 0;             // activations kept until backward
  double state_bytes = 0;            // parameters, gradients and what the optimizer remembers
};

struct CutProblem {
  std::vector<ChainLayer> layers;
  double latency = 0, bytes_per_second = 0;  // of the links; 0 bytes_per_second: free
  double memory = 0;                         // bytes of a stage; 0: any
  bool recompute = false;  // keeps only what came in, and computes forward again in backward
};

struct StageEstimate {
  std::size_t begin = 0, end = 0;  // layers
  double seconds = 0;              // computing, of a micro-batch forward and back
  double message_seconds = 0;      // to the next stage and back from it
  double bytes = 0;                // state, and activations of the micro-batches in flight
};

struct Cut {
  std::vector<StageEstimate> stages;
  // From one micro-batch to the next; of all cuts that have it, the least time in messages.
  double bottleneck = 0;
  std::vector<std::size_t> ends() const;
};

// Into `in_flight.size()` stages, the i-th of which keeps the activations of in_flight[i]
// micro-batches (SlotTable::peak_activations). No stages: it does not fit the memory. A ConfigError
// if there are more stages than layers.
Cut best_cut(const CutProblem& problem, const std::vector<int>& in_flight);

// What stages are that end before the given layers. A ConfigError if that is no cut.
Cut cut_at(const CutProblem& problem, const std::vector<std::size_t>& ends,
           const std::vector<int>& in_flight);

}  // namespace lockstep
