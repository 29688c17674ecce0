// The batches a worker trains on, its own made ahead of time where that is wanted.
#pragma once

#include <atomic>
#include <optional>

#include "lockstep/data/prefetch.h"
#include "lockstep/train/batch_source.h"

namespace lockstep {

class BatchSupply {
 public:
  // `step` steps of the training are done, `own` of them by this worker.
  BatchSupply(Transport& transport, const Job& job, std::int64_t step, std::int64_t own);

  // The batch of a turn, valid until the next call; `own` steps were taken by this worker before.
  Batch& take(const Turn& turn, std::int64_t own);
  double waited() const { return ahead_ ? ahead_->waited() : 0; }

 private:
  const Job& job_;
  BatchSource source_;
  Batch here_;                          // made when it is needed
  std::atomic<std::int64_t> passed_{};  // batches of steps before are not needed any more
  std::optional<Prefetcher> ahead_;
};

}  // namespace lockstep
