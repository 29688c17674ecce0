// One collapse (collapse.h) that takes all of training.
#include "lockstep/optim/collapse.h"

namespace lockstep {
namespace {

class FinalCollapse : public Schedule {
 public:
  explicit FinalCollapse(const Options& options) : collapse_(options) {}
  SchedulePoint at(double progress, double) const override { return collapse_.point(progress); }

 private:
  Collapse collapse_;
};

OptionSet final_collapse_options() {
  OptionSet options = schedule_options();
  add_collapse_options(options);
  return options;
}

const Registration<Schedule> kFinalCollapse{
    "final-collapse", "A line, then a power in the last phase; weight decay low, then high.",
    final_collapse_options(),
    [](const Options& options) { return std::make_unique<FinalCollapse>(options); }};

}  // namespace
}  // namespace lockstep
