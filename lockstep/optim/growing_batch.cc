// Don't decay the learning rate, increase the batch size (Smith et al. 2018): the noise of SGD goes
// with rate over batch, so where `step` would multiply the rate by `factor` the batch is divided by
// it instead: the same curve in fewer steps. The batch should stay below about a tenth of the
// training set: beyond `most` times the batch at the start, the rate falls after all.
#include <algorithm>
#include <cmath>

#include "lockstep/optim/milestones.h"
#include "lockstep/optim/schedule.h"

namespace lockstep {
namespace {

class GrowingBatch : public Schedule {
 public:
  explicit GrowingBatch(const Options& options)
      : milestones_(options, "growing-batch"),
        factor_(options.real("factor")),
        most_(options.real("most")) {}

  SchedulePoint at(double progress, double) const override {
    const double decay = std::pow(factor_, static_cast<double>(milestones_.passed(progress)));
    const double batch = std::min(1 / decay, most_);
    return {.lr = batch * decay, .batch = batch};
  }

 private:
  Milestones milestones_;
  double factor_, most_;
};

OptionSet growing_batch_options() {
  OptionSet options = schedule_options();
  add_milestone_option(options, {0.5, 0.75});
  options.real("factor", 0.1, "what rate over batch is multiplied by").above(0).at_most(1);
  options
      .real("most", 32,
            "how many times the batch at the start it may become; samples / (10 · batch) is right")
      .at_least(1);
  return options;
}

const Registration<Schedule> kGrowingBatch{
    "growing-batch", "The batch grows where the rate would fall, up to a bound.",
    growing_batch_options(),
    [](const Options& options) { return std::make_unique<GrowingBatch>(options); }};

}  // namespace
}  // namespace lockstep
