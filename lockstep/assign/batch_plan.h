// Who has how many samples in which step of an epoch, from the sizes of the shards alone: every
// worker knows everybody's share without asking. All take the same number of steps, as many as the
// largest shard needs; a worker that has used up its own takes the rest with empty batches, so
// nobody ever waits for a worker that has stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

class BatchPlan {
 public:
  struct Slice {
    std::size_t begin = 0, size = 0;  // of the worker's order of the epoch
    bool operator==(const Slice&) const = default;
  };

  // Throws a ConfigError if not even the largest shard fills a batch.
  BatchPlan(std::vector<std::size_t> shard_sizes, std::size_t local_batch);

  std::int64_t steps() const { return steps_; }
  std::size_t local_batch() const { return local_batch_; }
  Slice slice(int worker, std::int64_t step) const;
  std::vector<std::size_t> sizes(std::int64_t step) const;  // of all workers
  std::size_t global_size(std::int64_t step) const;         // their sum

 private:
  std::vector<std::size_t> shard_sizes_;
  std::size_t local_batch_;
  std::int64_t steps_ = 0;
};

}  // namespace lockstep
