// SimGrid is made for one engine a process; what an engine leaves behind would disturb the next.
#pragma once

namespace lockstep {

// Call before an engine is made.
void clear_sim_leftovers();

}  // namespace lockstep
