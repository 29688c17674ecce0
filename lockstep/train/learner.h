// One rank's copy of everything that learns: the replica, its optimizer, and the strategy that
// keeps it together with the others.
#pragma once

#include <memory>
#include <string>

#include "lockstep/sync/strategy.h"
#include "lockstep/train/evaluation.h"
#include "lockstep/train/job.h"

namespace lockstep {

class Learner {
 public:
  // Collective: everybody starts from the parameters and buffers of the first rank.
  Learner(Transport& transport, const Job& job);

  // One step of training. Throws a TrainingError if the loss is not finite.
  PassResult learn(std::int64_t step, const Batch& batch);
  // After the last step.
  void finish(std::int64_t step);

  // Collective. Running statistics are averaged for the time of the evaluation.
  Tallies validate(std::span<const SampleId> samples);
  // Collective. From now on all ranks have the same running statistics.
  void average_statistics();

  bool consistent() const { return strategy_->consistent_now(); }
  Replica& replica() { return *replica_; }
  Group& group() { return group_; }
  std::uint64_t bytes_sent() const { return communicator_.bytes_sent(); }
  std::vector<std::string> remarks() const;  // a line each, for the user
  void state(StateVisitor& visitor);

 private:
  void share_statistics();
  void check_loss(double loss, std::int64_t step, const Rates& rates) const;

  Transport& transport_;
  const Job& job_;
  Group group_;
  std::unique_ptr<AllReduce> all_reduce_;
  Communicator communicator_;
  std::unique_ptr<Group> statistics_group_;
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<SyncStrategy> strategy_;
};

}  // namespace lockstep
