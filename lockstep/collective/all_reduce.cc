#include "lockstep/collective/all_reduce.h"

#include <algorithm>
#include <numeric>

#include "lockstep/base/half.h"

namespace lockstep {

template <>
Registry<AllReduce>& Registry<AllReduce>::instance() {
  static Registry<AllReduce> registry("allreduce", "all-reduce algorithm");
  return registry;
}

Cost Tally::cost() const {
  return {steps_, *std::max_element(sent_.begin(), sent_.end()) * sizeof(float),
          std::accumulate(sent_.begin(), sent_.end(), std::size_t{0}) * sizeof(float)};
}

void AllReduce::run(Group& group, std::span<float> data, ReduceOp op) const {
  if (group.size() == 1 || data.empty()) return;
  const Operation operation(group.transport(), label_);
  reduce(group, data, Reduction::over(op, group.size()));
  // Whoever finished an element has it as it was before it travelled.
  if (group.number() != Number::kFloat) round_values(group.number(), data.data(), data.size());
}

Tally AllReduce::tally_of(int ranks, std::size_t n) const {
  Tally sums(ranks);
  if (ranks > 1 && n > 0) tally(sums, ranks, n);
  return sums;
}

}  // namespace lockstep
