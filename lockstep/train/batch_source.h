// The batches of one rank: those of its workers, one behind the other.
#pragma once

#include <vector>

#include "lockstep/train/job.h"

namespace lockstep {

class BatchSource {
 public:
  BatchSource(const Job& job, int rank);
  // The batch of a step, counted by this rank's own steps.
  void fill(std::int64_t step, Batch& batch);

 private:
  const Job& job_;
  std::vector<SampleStream> streams_;  // one a worker
  std::vector<SampleId> ids_;
};

}  // namespace lockstep
