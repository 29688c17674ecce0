#include "lockstep/assign/batch_plan.h"

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep {

BatchPlan::BatchPlan(std::vector<std::size_t> shard_sizes, std::size_t local_batch)
    : shard_sizes_(std::move(shard_sizes)), local_batch_(local_batch) {
  LOCKSTEP_CHECK(!shard_sizes_.empty(), "no workers");
  if (local_batch < 1) throw ConfigError("the local batch is 0; it must be at least 1");
  const std::size_t largest = *std::max_element(shard_sizes_.begin(), shard_sizes_.end());
  if (local_batch > largest) {
    throw ConfigError("a batch of {} samples a worker does not fit: the largest shard has only {}",
                      local_batch, largest);
  }
  steps_ = static_cast<std::int64_t>((largest + local_batch - 1) / local_batch);
}

BatchPlan::Slice BatchPlan::slice(int worker, std::int64_t step) const {
  LOCKSTEP_CHECK(step >= 0 && step < steps_, "step {} of {}", step, steps_);
  const std::size_t shard = shard_sizes_.at(static_cast<std::size_t>(worker));
  const std::size_t begin = std::min(shard, static_cast<std::size_t>(step) * local_batch_);
  return {begin, std::min(local_batch_, shard - begin)};
}

std::vector<std::size_t> BatchPlan::sizes(std::int64_t step) const {
  std::vector<std::size_t> sizes;
  for (std::size_t w = 0; w < shard_sizes_.size(); ++w) {
    sizes.push_back(slice(static_cast<int>(w), step).size);
  }
  return sizes;
}

std::size_t BatchPlan::global_size(std::int64_t step) const {
  std::size_t sum = 0;
  for (const std::size_t size : sizes(step)) sum += size;
  return sum;
}

}  // namespace lockstep
