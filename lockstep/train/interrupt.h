// Ctrl-C in the middle of a run: the step is finished and a checkpoint written. While a watch
// lives, SIGINT and SIGTERM only leave a note; a SIGINT after either ends the program at once, in
// the way it would have ended without the watch.
//
//   InterruptWatch watch;
//   while (!anybody_interrupted(group)) step();
#pragma once

#include "lockstep/collective/group.h"

namespace lockstep {

// One at a time in a process; the thread that starts the ranks makes it. Restores the handlers
// there were before. A signal that was ignored (nohup) stays ignored.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
};

// The signal that came since the watch began; 0: none.
int interrupt_signal();

// Collective: all members learn the same, so that all stop after the same step. A signal comes
// between any two looks at the note; ranks that looked by themselves would part ways.
bool anybody_interrupted(Group& group);

}  // namespace lockstep
