// Batches made ahead of time by a companion of the rank, so that a step finds its batch ready.
#pragma once

#include <cstdint>
#include <functional>

#include "lockstep/data/batch.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

class Prefetcher {
 public:
  // Fills the batch of a step; called on the companion, for first, first+1, …, end−1 in order.
  using Fill = std::function<void(std::int64_t step, Batch& batch)>;

  // Two batches are kept: one in use, one being made. `tag` and tag+1 must be nobody else's.
  Prefetcher(Transport& transport, Tag tag, std::int64_t first, std::int64_t end, Fill fill);
  ~Prefetcher();  // may come before all batches were taken
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // The next batch, valid until the next call.
  const Batch& next();
  // Seconds that next() has waited so far.
  double waited() const;

 private:
  class Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace lockstep
