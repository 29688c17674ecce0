#include "apps/all_reduce_timing.h"

#include <algorithm>

#include "lockstep/base/aligned.h"
#include "lockstep/collective/collectives.h"

namespace lockstep {
namespace {

// Rank r starts with r+1 everywhere.
float expected(int ranks, ReduceOp op) {
  const float sum = static_cast<float>(ranks) * static_cast<float>(ranks + 1) / 2;
  switch (op) {
    case ReduceOp::kSum:
      return sum;
    case ReduceOp::kMean:
      return sum / static_cast<float>(ranks);
    case ReduceOp::kMax:
      return static_cast<float>(ranks);
    case ReduceOp::kMin:
      return 1;
  }
  return 0;
}

}  // namespace

std::vector<std::vector<double>> time_in_turns(Group& group,
                                               const std::vector<TimedAlgorithm>& algorithms,
                                               ReduceOp op, std::size_t n, const TimingPlan& plan) {
  AlignedVector<float> data(n);
  const auto refill = [&] {
    std::fill(data.begin(), data.end(), static_cast<float>(group.index() + 1));
  };
  const auto once = [&](const TimedAlgorithm& algorithm) {
    refill();
    barrier(group);
    const double began = group.transport().now();
    algorithm.run(data);
    return group.transport().now() - began;
  };

  std::vector<double> first;
  for (const auto& algorithm : algorithms) {
    once(algorithm);
    const float right = expected(group.size(), op);
    if (std::any_of(data.begin(), data.end(), [&](float value) { return value != right; })) {
      throw CommError("{} computed a wrong {} on rank {}", algorithm.name, to_string(op),
                      group.rank(group.index()));
    }
    // How long it takes matters only where the number of repetitions is to be found.
    first.push_back(plan.least == plan.most ? 0 : once(algorithm));
  }
  first = slowest(group, first);

  std::vector<int> repeats;
  for (const double seconds : first) {
    repeats.push_back(usual_repeats(seconds, plan.budget, plan.least, plan.most));
  }
  std::vector<std::vector<double>> samples(algorithms.size());
  for (int turn = 0; turn < *std::max_element(repeats.begin(), repeats.end()); ++turn) {
    for (std::size_t a = 0; a < algorithms.size(); ++a) {
      if (turn < repeats[a]) samples[a].push_back(once(algorithms[a]));
    }
  }
  for (auto& list : samples) list = slowest(group, list);
  return samples;
}

}  // namespace lockstep
