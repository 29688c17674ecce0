// Slow start (Akiba, Suzuki, Fukuda 2017): at the full rate very big batches do not get going, so
// the first phase is at half of it and longer than usual. Of 90 epochs 40 at 0.5, 30 at 0.075, 15
// at 0.01 and 5 at 0.001.
#include "lockstep/base/error.h"
#include "lockstep/optim/milestones.h"
#include "lockstep/optim/schedule.h"

namespace lockstep {
namespace {

class SlowStart : public Schedule {
 public:
  explicit SlowStart(const Options& options)
      : milestones_(options, "slow-start"), factors_(options.reals("factors")) {
    if (factors_.size() != milestones_.count() + 1) {
      throw ConfigError(
          "schedule \"slow-start\": option factors has {} values; {} points need {}, one a phase",
          factors_.size(), milestones_.count(), milestones_.count() + 1);
    }
  }

  SchedulePoint at(double progress, double) const override {
    return {.lr = factors_[milestones_.passed(progress)]};
  }

 private:
  Milestones milestones_;
  std::vector<double> factors_;
};

OptionSet slow_start_options() {
  OptionSet options = schedule_options();
  add_milestone_option(options, {40.0 / 90, 70.0 / 90, 85.0 / 90});
  options.reals("factors", {0.5, 0.075, 0.01, 0.001}, "the rate in each phase, as factors")
      .at_least(0);
  return options;
}

const Registration<Schedule> kSlowStart{
    "slow-start", "A long first phase at half the rate, then ever shorter and lower ones.",
    slow_start_options(),
    [](const Options& options) { return std::make_unique<SlowStart>(options); }};

}  // namespace
}  // namespace lockstep
