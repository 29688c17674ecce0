// The parameter server as an all-reduce: when the last member of a group has sent its values, all
// get their mean. Combined in the order of the workers, whoever comes first, so the bits are those
// of the native all-reduce.
#pragma once

#include <map>

#include "lockstep/base/aligned.h"
#include "lockstep/server/shard_rule.h"

namespace lockstep {

class MeanRule : public ShardRule {
 public:
  static constexpr std::uint32_t kAverage = kFirstOwn;  // version: the group, clock: its size

  explicit MeanRule(const ShardSetup& setup) : workers_(setup.workers) {}
  void handle(const ServerHeader& header, std::span<const float> values,
              const Answer& answer) override;
  void state(StateVisitor&) override {}  // nothing is left over between two steps

 private:
  int workers_;
  // Group → who has sent what of the round under way.
  std::map<std::int64_t, std::map<int, AlignedVector<float>>> rounds_;
};

}  // namespace lockstep
