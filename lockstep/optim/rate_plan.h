// The rates of every step of a run: a schedule's factors, the linear scaling rule (batch k times as
// big, rate k times as high) and gradual warm-up (Goyal et al. 2017), made into numbers for the
// optimizer. A pure function of how much of training is done.
#pragma once

#include <cstdint>
#include <optional>

#include "lockstep/base/options.h"
#include "lockstep/optim/optimizer.h"
#include "lockstep/optim/schedule.h"

namespace lockstep {

class RatePlan {
 public:
  // `options` are those the schedule was made from. `base` are the optimizer's configured rates,
  // `epochs` the length of training. The schedule must live as long as the plan.
  // `scale`: by what linear scaling multiplies the rate; without, by the batch over the reference.
  RatePlan(const Schedule& schedule, const Options& options, const Rates& base,
           std::int64_t global_batch, double epochs, std::optional<double> scale = {});

  // `progress` from 0 to 1, `epoch` the same in epochs.
  Rates at(double progress, double epoch) const;
  // By how much the global batch is to be multiplied now (1 but for growing-batch). The rate was
  // scaled for the batch at the start: growing it instead of lowering the rate is the point.
  double batch_factor(double progress, double epoch) const;

 private:
  double weight_decay_factor(const SchedulePoint& point) const;

  const Schedule& schedule_;
  Rates base_;
  double full_lr_;       // base_.lr, scaled
  double warmup_start_;  // the rate at epoch 0, if there is a warm-up
  double warmup_epochs_;
  std::string weight_decay_;
};

}  // namespace lockstep
