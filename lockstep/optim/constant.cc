// The configured rate from the first step to the last.
#include "lockstep/optim/schedule.h"

namespace lockstep {
namespace {

class Constant : public Schedule {
 public:
  SchedulePoint at(double, double) const override { return {}; }
};

const Registration<Schedule> kConstant{"constant", "The same rate throughout.", schedule_options(),
                                       [](const Options&) { return std::make_unique<Constant>(); }};

}  // namespace
}  // namespace lockstep
