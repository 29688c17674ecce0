// From 1 to `end` as a power of what is left of training (You et al. 2017 use 2; 1 is a line).
#include <cmath>

#include "lockstep/optim/schedule.h"

namespace lockstep {
namespace {

class Polynomial : public Schedule {
 public:
  explicit Polynomial(const Options& options)
      : power_(options.real("power")), end_(options.real("end")) {}

  SchedulePoint at(double progress, double) const override {
    return {.lr = end_ + (1 - end_) * std::pow(1 - progress, power_)};
  }

 private:
  double power_, end_;
};

OptionSet polynomial_options() {
  OptionSet options = schedule_options();
  options.real("power", 2, "the exponent; 1 is a straight line").above(0);
  options.real("end", 0, "the rate at the end, as a factor").at_least(0).at_most(1);
  return options;
}

const Registration<Schedule> kPolynomial{
    "polynomial", "The rate falls with a power of what is left of training.", polynomial_options(),
    [](const Options& options) { return std::make_unique<Polynomial>(options); }};

}  // namespace
}  // namespace lockstep
