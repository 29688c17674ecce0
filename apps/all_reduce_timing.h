// Timing several all-reduce algorithms beside each other: one repetition of each in turn, so that
// whatever disturbs the machine disturbs all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/measure.h"

namespace lockstep {

struct TimedAlgorithm {
  std::string name;
  std::function<void(std::span<float>)> run;
};

struct TimingPlan {
  double budget = 0.5;  // seconds an algorithm may take at a size
  int least = 5;        // repetitions
  int most = 200;
};

// Collective. The samples of each algorithm, in seconds, the slowest member's; the same on all.
// Throws a CommError if an algorithm computes a wrong sum.
std::vector<std::vector<double>> time_in_turns(Group& group,
                                               const std::vector<TimedAlgorithm>& algorithms,
                                               ReduceOp op, std::size_t n, const TimingPlan& plan);

}  // namespace lockstep
