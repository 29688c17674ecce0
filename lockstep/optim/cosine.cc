// Half a cosine from 1 to `end` (Loshchilov & Hutter 2017, without restarts): slow at both ends.
#include <cmath>
#include <numbers>

#include "lockstep/optim/schedule.h"

namespace lockstep {
namespace {

class Cosine : public Schedule {
 public:
  explicit Cosine(const Options& options) : end_(options.real("end")) {}

  SchedulePoint at(double progress, double) const override {
    return {.lr = end_ + (1 - end_) * 0.5 * (1 + std::cos(std::numbers::pi * progress))};
  }

 private:
  double end_;
};

OptionSet cosine_options() {
  OptionSet options = schedule_options();
  options.real("end", 0, "the rate at the end, as a factor").at_least(0).at_most(1);
  return options;
}

const Registration<Schedule> kCosine{
    "cosine", "The rate falls along half a cosine.", cosine_options(),
    [](const Options& options) { return std::make_unique<Cosine>(options); }};

}  // namespace
}  // namespace lockstep
