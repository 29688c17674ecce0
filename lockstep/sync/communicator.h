// How a worker's values become the average over all workers: an all-reduce over a group. Counts
// what that sends, by the algorithm's own account.
#pragma once

#include <cstdint>
#include <span>

#include "lockstep/collective/all_reduce.h"

namespace lockstep {

class Communicator {
 public:
  Communicator(Group& group, const AllReduce& algorithm) : group_(group), algorithm_(algorithm) {}

  // Collective. The mean over the members, the same bits on all of them.
  void average(std::span<float> values);

  Group& group() { return group_; }
  int size() const { return group_.size(); }
  // Sent so far by the member that sends most.
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  Group& group_;
  const AllReduce& algorithm_;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace lockstep
