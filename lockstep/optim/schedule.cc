#include "lockstep/optim/schedule.h"

namespace lockstep {

template <>
Registry<Schedule>& Registry<Schedule>::instance() {
  static Registry<Schedule> registry("schedule", "schedule");
  return registry;
}

}  // namespace lockstep
