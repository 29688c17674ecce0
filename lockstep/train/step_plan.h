// Which step of training is where: epochs, steps within them, and the batch, which may grow from
// epoch to epoch. A pure function of the configuration, so that every worker knows it and a run can
// be taken up at any step.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep {

struct StepPosition {
  std::int64_t epoch = 0;
  std::int64_t index = 0;  // of the step in its epoch
  std::size_t local_batch = 0;
  double epochs = 0;    // done before this step, with fractions
  double progress = 0;  // the same as a share of the whole training
};

class StepPlan {
 public:
  // `local_batch` of an epoch that begins at a share of training. `most_steps` 0: no limit.
  StepPlan(std::size_t largest_shard, double epochs, std::int64_t most_steps,
           const std::function<std::size_t(double progress)>& local_batch);

  std::int64_t steps() const { return steps_; }
  double epochs() const { return length_; }
  StepPosition at(std::int64_t step) const;  // 0 … steps()
  // Also beyond the end, where epochs like the last one go on: a worker that is faster than others
  // may take more steps than its share.
  StepPosition at_or_beyond(std::int64_t step) const;
  std::int64_t steps_in_epoch(std::int64_t epoch) const;

 private:
  struct Epoch {
    std::int64_t first = 0, steps = 0;
    std::size_t local_batch = 0;
  };
  double length_;
  std::vector<Epoch> epochs_;
  std::int64_t steps_ = 0;
};

}  // namespace lockstep
