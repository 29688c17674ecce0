// The rate is multiplied by `factor` at each of some points of training (He et al. 2016: a tenth at
// one half and at three quarters, for CIFAR-10).
#include <cmath>

#include "lockstep/optim/milestones.h"
#include "lockstep/optim/schedule.h"

namespace lockstep {
namespace {

class Step : public Schedule {
 public:
  explicit Step(const Options& options)
      : milestones_(options, "step"), factor_(options.real("factor")) {}

  SchedulePoint at(double progress, double) const override {
    return {.lr = std::pow(factor_, static_cast<double>(milestones_.passed(progress)))};
  }

 private:
  Milestones milestones_;
  double factor_;
};

OptionSet step_options() {
  OptionSet options = schedule_options();
  add_milestone_option(options, {0.5, 0.75});
  options.real("factor", 0.1, "what the rate is multiplied by").above(0);
  return options;
}

const Registration<Schedule> kStep{
    "step", "The rate falls by a factor at given fractions of training.", step_options(),
    [](const Options& options) { return std::make_unique<Step>(options); }};

}  // namespace
}  // namespace lockstep
