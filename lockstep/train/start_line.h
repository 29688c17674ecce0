// Where workers of a simulated run go on after a checkpoint.
#pragma once

#include "lockstep/collective/group.h"

namespace lockstep {

// Collective. Afterwards all members go on at one moment of the simulated clock, each a microsecond
// behind the one before, whatever the meeting took them: what happens next then depends on what
// they do next alone, and a run that is taken up here goes on as if it had never been stopped.
void line_up(Group& group);

}  // namespace lockstep
