// Both leftovers are static members of SimGrid that its headers hide but its library exports. They
// are looked up by name while running, so that a SimGrid without them still works: then a later
// run's times may differ in their last bits from an earlier one's, and runs slow down by the
// thousand.
#include "lockstep/transport/sim_leftovers.h"

#include <dlfcn.h>

#include <simgrid/s4u.hpp>

namespace lockstep {

void clear_sim_leftovers() {
  // The clock goes on where the last engine stopped. The same run would then round its times
  // otherwise, and might break ties in another order.
  static auto* const clock =
      static_cast<double*>(dlsym(RTLD_DEFAULT, "_ZN7simgrid6kernel10EngineImpl4now_E"));
  if (clock != nullptr) *clock = 0;

  // Each engine hooks its model of virtual machines, which we never use, to the end of every
  // activity once more: a message would cost time for each run there has been.
  using OnCompletion = simgrid::xbt::signal<void(const simgrid::s4u::Activity&)>;
  static auto* const on_completion =
      static_cast<OnCompletion*>(dlsym(RTLD_DEFAULT, "_ZN7simgrid3s4u8Activity13on_completionE"));
  if (on_completion != nullptr) on_completion->disconnect_slots();
}

}  // namespace lockstep
