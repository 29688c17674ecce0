#include "lockstep/optim/collapse.h"

#include <cmath>

namespace lockstep {

void add_collapse_options(OptionSet& options) {
  options.real("collapse_at", 0.8, "where the collapse begins, as a fraction")
      .above(0)
      .at_most(0.999);
  options.real("collapse_from", 0.2, "the rate where it begins, as a factor")
      .at_least(0)
      .at_most(1);
  options.real("power", 2, "the exponent of the collapse").above(0);
  options.real("early_weight_decay", 0.5, "factor of weight decay before the collapse").at_least(0);
  options.real("late_weight_decay", 2, "factor of weight decay in the collapse").at_least(0);
}

Collapse::Collapse(const Options& options)
    : at_(options.real("collapse_at")),
      from_(options.real("collapse_from")),
      power_(options.real("power")),
      early_weight_decay_(options.real("early_weight_decay")),
      late_weight_decay_(options.real("late_weight_decay")) {}

SchedulePoint Collapse::point(double x) const {
  if (x < at_) return {.lr = 1 - (1 - from_) * x / at_, .weight_decay = early_weight_decay_};
  return {.lr = from_ * std::pow((1 - x) / (1 - at_), power_), .weight_decay = late_weight_decay_};
}

}  // namespace lockstep
