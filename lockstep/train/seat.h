// Where a rank sits: which stage of which worker it holds. To the ranks that hold the same stage it
// talks as if they were the whole world; a model that is not cut has one stage, and they are.
//
//   rank = stage · workers + worker: those that average with each other are neighbours
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/collective/group.h"
#include "lockstep/train/job.h"
#include "lockstep/transport/sub_transport.h"

namespace lockstep {

std::vector<int> first_ranks(int count);  // 0 … count − 1

class Seat {
 public:
  // Collective: where the model is cut may be measured.
  Seat(Transport& whole, const Job& job);

  Transport& whole() { return whole_; }
  Transport& peers();  // the ranks with the same stage, and the servers, if there are any
  Group& trainers() { return trainers_; }  // all ranks that train

  int stage() const { return stage_; }
  int rank_of(int stage) const;  // the same worker's; -1 if there is no such stage
  const StagePlan* plan() const { return plan_ ? &*plan_ : nullptr; }  // null: it is not cut
  const StageShare& share() const;  // of this rank, where the model is cut

 private:
  Transport& whole_;
  int workers_;  // ranks of a stage
  int stages_;
  int stage_;
  Group trainers_;
  std::optional<SubTransport> peers_;
  std::optional<StagePlan> plan_;
};

}  // namespace lockstep
