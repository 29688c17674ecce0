#include "lockstep/train/step_plan.h"

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

// The number of the epoch that a step is in; beyond the end: the last one's.
template <typename Epochs>
std::int64_t epoch_of(std::int64_t step, const Epochs& epochs) {
  const auto behind = std::upper_bound(epochs.begin(), epochs.end(), step,
                                       [](std::int64_t s, const auto& e) { return s < e.first; });
  return behind - 1 - epochs.begin();
}

}  // namespace

StepPlan::StepPlan(std::size_t largest_shard, double epochs, std::int64_t most_steps,
                   const std::function<std::size_t(double progress)>& local_batch)
    : length_(epochs) {
  LOCKSTEP_CHECK(largest_shard > 0 && epochs > 0, "{} samples, {} epochs", largest_shard, epochs);
  const auto count = static_cast<std::int64_t>(std::ceil(epochs));
  for (std::int64_t e = 0; e < count; ++e) {
    const std::size_t batch = local_batch(static_cast<double>(e) / epochs);
    const auto steps = static_cast<std::int64_t>((largest_shard + batch - 1) / batch);
    epochs_.push_back({steps_, steps, batch});
    const double share = std::min(1.0, epochs - static_cast<double>(e));  // of the last one
    steps_ += std::max<std::int64_t>(1, std::llround(share * static_cast<double>(steps)));
  }
  if (most_steps > 0) steps_ = std::min(steps_, most_steps);
}

StepPosition StepPlan::at(std::int64_t step) const {
  LOCKSTEP_CHECK(step >= 0 && step <= steps_, "step {} of {}", step, steps_);
  const std::int64_t number = epoch_of(step, epochs_);
  const Epoch& epoch = epochs_[static_cast<std::size_t>(number)];
  const std::int64_t index = step - epoch.first;
  const double done =
      std::min(length_, static_cast<double>(number) +
                            static_cast<double>(index) / static_cast<double>(epoch.steps));
  return {number, index, epoch.local_batch, done, done / length_};
}

StepPosition StepPlan::at_or_beyond(std::int64_t step) const {
  if (step < steps_) return at(step);
  // A limit of steps may have cut off epochs that were planned: they come first.
  const std::int64_t number = epoch_of(step, epochs_);
  const Epoch& epoch = epochs_[static_cast<std::size_t>(number)];
  const std::int64_t index = step - epoch.first;
  return {number + index / epoch.steps, index % epoch.steps, epoch.local_batch, length_, 1};
}

std::int64_t StepPlan::steps_in_epoch(std::int64_t epoch) const {
  return epochs_[static_cast<std::size_t>(epoch)].steps;
}

}  // namespace lockstep
