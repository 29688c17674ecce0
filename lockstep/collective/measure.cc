#include "lockstep/collective/measure.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lockstep/base/aligned.h"
#include "lockstep/base/error.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/collective/tree.h"

namespace lockstep {

Timing summarise(std::vector<double> seconds) {
  LOCKSTEP_CHECK(!seconds.empty(), "no samples");
  std::sort(seconds.begin(), seconds.end());
  const auto quantile = [&](double q) {
    const double at = q * static_cast<double>(seconds.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, seconds.size() - 1);
    return std::lerp(seconds[low], seconds[high], at - static_cast<double>(low));
  };
  return {quantile(0.5), quantile(0.1), quantile(0.9)};
}

std::vector<double> slowest(Group& group, const std::vector<double>& seconds) {
  const Operation operation(group.transport(), "comparing times");
  std::vector<double> worst = seconds;
  tree_merge(group, std::as_writable_bytes(std::span(worst)),
             [](std::span<std::byte> mine, std::span<const std::byte> theirs) {
               for (std::size_t at = 0; at < mine.size(); at += sizeof(double)) {
                 double a = 0, b = 0;
                 std::memcpy(&a, mine.data() + at, sizeof a);
                 std::memcpy(&b, theirs.data() + at, sizeof b);
                 a = std::max(a, b);
                 std::memcpy(mine.data() + at, &a, sizeof a);
               }
             });
  return worst;
}

std::vector<double> time_all_reduce(Group& group, const AllReduce& algorithm, std::size_t n,
                                    ReduceOp op, int repeats) {
  AlignedVector<float> data(n, 1.0f);
  std::vector<double> seconds;
  algorithm.run(group, data, op);
  for (int i = 0; i < repeats; ++i) {
    // Sums of sums would overflow after a hundred repetitions and slow the arithmetic down.
    if (op == ReduceOp::kSum) std::fill(data.begin(), data.end(), 1.0f);
    barrier(group);
    const double began = group.transport().now();
    algorithm.run(group, data, op);
    seconds.push_back(group.transport().now() - began);
  }
  return slowest(group, seconds);
}

int usual_repeats(double seconds, double budget, int least, int most) {
  return std::clamp(static_cast<int>(budget / std::max(seconds, 1e-9)), least, most);
}

AverageTime measure_average(Group& group, const AllReduce& algorithm) {
  // One size that is all start-up, and one that fills the network but takes no second on a slow
  // one.
  constexpr std::size_t kSmall = 256, kLarge = 64 * 1024;  // floats
  constexpr int kRepeats = 5;
  const auto seconds = [&](std::size_t n) {
    return summarise(time_all_reduce(group, algorithm, n, ReduceOp::kMean, kRepeats)).median;
  };
  const double small = seconds(kSmall), large = seconds(kLarge);
  constexpr double kBytes = (kLarge - kSmall) * sizeof(float);
  return {small, std::max(large - small, 1e-9) / kBytes};
}

}  // namespace lockstep
