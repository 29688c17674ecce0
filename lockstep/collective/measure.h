// How long an all-reduce takes here: the time of the slowest member, over and over.
#pragma once

#include <cstddef>
#include <vector>

#include "lockstep/collective/all_reduce.h"

namespace lockstep {

struct Timing {
  double median = 0;  // seconds
  double p10 = 0;
  double p90 = 0;
};

// Order statistics of the samples, between neighbours by linear interpolation.
Timing summarise(std::vector<double> seconds);

// Collective. For each repetition the seconds that the slowest member took; the same on all.
std::vector<double> time_all_reduce(Group& group, const AllReduce& algorithm, std::size_t n,
                                    ReduceOp op, int repeats);

// How long an average takes: alpha seconds and beta for every byte of the vector.
struct AverageTime {
  double alpha = 0, beta = 0;
};
// Collective; the same on all.
AverageTime measure_average(Group& group, const AllReduce& algorithm);

// The slowest member's samples: element-wise maxima, the same bits on all members.
std::vector<double> slowest(Group& group, const std::vector<double>& seconds);

// Repetitions of something that takes `seconds`: more of what is short.
int usual_repeats(double seconds, double budget, int least, int most);

}  // namespace lockstep
