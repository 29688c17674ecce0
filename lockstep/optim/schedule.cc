#include "lockstep/optim/schedule.h"

namespace lockstep {

template <>
Registry<Schedule>& Registry<Schedule>::instance() {
  static Registry<Schedule> registry("schedule", "schedule");
  return registry;
}

OptionSet schedule_options() {
  OptionSet options;
  options.real("warmup_epochs", 0, "epochs in which the rate rises to its full value").at_least(0);
  options
      .real("warmup_from", 0,
            "where warm-up begins, as a factor of the configured rate; 0 picks the configured rate "
            "itself where scaling raises it, else a tenth of the full rate")
      .at_least(0);
  options
      .text("scale", "none", "linear: multiply the rate by the global batch over reference_batch")
      .one_of({"none", "linear"});
  options.integer("reference_batch", 256, "the batch for which the configured rate is right")
      .at_least(1);
  options
      .text("weight_decay", "scheduled",
            "scheduled: as the schedule says; constant: never changes; with-rate: changes by the "
            "same factor as the rate")
      .one_of({"scheduled", "constant", "with-rate"});
  return options;
}

}  // namespace lockstep
