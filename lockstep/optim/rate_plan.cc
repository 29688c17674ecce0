#include "lockstep/optim/rate_plan.h"

#include "lockstep/base/error.h"

namespace lockstep {

RatePlan::RatePlan(const Schedule& schedule, const Options& options, const Rates& base,
                   std::int64_t global_batch, double epochs, std::optional<double> scale)
    : schedule_(schedule),
      base_(base),
      full_lr_(base.lr),
      warmup_epochs_(options.real("warmup_epochs")),
      weight_decay_(options.text("weight_decay")) {
  LOCKSTEP_CHECK(global_batch > 0, "the global batch is {}", global_batch);
  if (warmup_epochs_ > epochs) {
    throw ConfigError(
        "schedule: option warmup_epochs is {}; it must be at most the {} epochs of "
        "training",
        warmup_epochs_, epochs);
  }
  if (options.text("scale") == "linear") {
    const auto reference = static_cast<double>(options.integer("reference_batch"));
    full_lr_ *= scale.value_or(static_cast<double>(global_batch) / reference);
  }
  const double from = options.real("warmup_from");
  if (from > 0) {
    warmup_start_ = from * base_.lr;
  } else {
    warmup_start_ = full_lr_ > base_.lr ? base_.lr : 0.1 * full_lr_;
  }
}

double RatePlan::weight_decay_factor(const SchedulePoint& point) const {
  if (weight_decay_ == "constant") return 1;
  return weight_decay_ == "with-rate" ? point.lr : point.weight_decay;
}

Rates RatePlan::at(double progress, double epoch) const {
  const SchedulePoint point = schedule_.at(progress, epoch);
  double lr = full_lr_ * point.lr;
  if (epoch < warmup_epochs_) lr = warmup_start_ + (lr - warmup_start_) * epoch / warmup_epochs_;
  return {
      .lr = lr, .weight_decay = base_.weight_decay * weight_decay_factor(point), .epoch = epoch};
}

double RatePlan::batch_factor(double progress, double epoch) const {
  return schedule_.at(progress, epoch).batch;
}

}  // namespace lockstep
