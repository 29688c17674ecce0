#include "lockstep/sync/averaging.h"

#include "lockstep/server/mean_rule.h"

namespace lockstep {

void AllReduceAveraging::run(Group& group, std::span<float> values) {
  algorithm_.run(group, values, ReduceOp::kMean);
}

AverageCost AllReduceAveraging::cost(Group& group, std::size_t n) const {
  const Tally tally = algorithm_.tally_of(group.size(), n);
  const std::uint64_t own = tally.bytes_of(group.index());
  return {own, own, static_cast<std::uint64_t>(tally.cost().steps)};
}

void ServerAveraging::run(Group& group, std::span<float> values) {
  if (!fits(values.size())) return others_.run(group, values);
  // Groups that average at the same time lie apart or inside one another, so the first member and
  // the size tell them apart.
  server_.ask({.kind = MeanRule::kAverage, .clock = group.size(), .version = group.rank(0)}, values,
              values);
}

AverageCost ServerAveraging::cost(Group& group, std::size_t n) const {
  if (!fits(n)) return others_.cost(group, n);
  const std::uint64_t bytes = n * sizeof(float);
  return {bytes, bytes, 2};
}

}  // namespace lockstep
