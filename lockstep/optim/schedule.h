// How the learning rate, the weight decay and the batch change during training. A schedule is a
// pure function of how much of training is done.
#pragma once

#include <cstdint>
#include <vector>

#include "lockstep/base/registry.h"

namespace lockstep {

struct SchedulePoint {
  double lr = 1;  // factors of the configured values
  double weight_decay = 1;
  double batch = 1;
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  // `progress` from 0 (first step) to 1 (end of training), `epoch` the same in epochs.
  virtual SchedulePoint at(double progress, double epoch) const = 0;
  // Points of progress at whose end a snapshot of the model is to be kept (collapsed ensembles).
  virtual std::vector<double> snapshots() const { return {}; }
};

template <>
Registry<Schedule>& Registry<Schedule>::instance();

// The options every schedule has: warm-up, linear scaling, what weight decay does. Each schedule
// adds its own to them; RatePlan acts on them, so that schedules need not know.
OptionSet schedule_options();

}  // namespace lockstep
