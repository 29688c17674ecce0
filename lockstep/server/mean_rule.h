// The parameter server as an all-reduce: when the last member of a group has sent its values, all
// get their mean. Combined in the order of the workers, whoever comes first, so the bits are those
// of the native all-reduce.
#pragma once

#include <map>
#include <utility>

#include "lockstep/base/aligned.h"
#include "lockstep/server/shard_rule.h"

namespace lockstep {

class MeanRule : public ShardRule {
 public:
  static constexpr std::uint32_t kAverage =
      kFirstOwn;  // version: the first member, clock: the size

  explicit MeanRule(const ShardSetup& setup)
      : workers_(setup.workers), size_(setup.params.size()) {}
  void handle(const ServerHeader& header, std::span<const float> values,
              const Answer& answer) override;
  void state(StateVisitor&) override {}  // nothing is left over between two steps

 private:
  int workers_;
  std::size_t size_;
  // A group by its first member and its size: a household may still be averaging when others of the
  // world, whose first member is the same, have begun to.
  using Members = std::pair<std::int64_t, std::int64_t>;
  std::map<Members, std::map<int, AlignedVector<float>>> rounds_;  // who has sent what
};

}  // namespace lockstep
