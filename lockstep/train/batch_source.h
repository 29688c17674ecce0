// The batches of one rank: those of its workers, one behind the other; and of others whose steps it
// takes over.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "lockstep/train/job.h"

namespace lockstep {

class BatchSource {
 public:
  BatchSource(const Job& job, int rank);
  // The rank's own batch of a step.
  void fill(std::int64_t step, Batch& batch);
  // The batch of a turn, before which this rank has taken `own` steps.
  void fill(const Turn& turn, std::int64_t own, Batch& batch);

 private:
  const Job& job_;
  std::map<int, std::unique_ptr<BatchSource>> others_;  // by rank
  std::vector<SampleStream> streams_;                   // one a worker
  std::vector<SampleId> ids_;
};

}  // namespace lockstep
