#include "lockstep/assign/assignment.h"

namespace lockstep {

template <>
Registry<Assignment>& Registry<Assignment>::instance() {
  static Registry<Assignment> registry("assign", "assignment of data");
  return registry;
}

}  // namespace lockstep
