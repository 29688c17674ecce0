// The worker's side of being kept (see mpi_keeper.h): a thread that waits for the signals by which
// mpirun or a user ends the program, and sees to it that the user learns what the ranks were doing
// before the process goes. It has less than a second: then mpirun kills.
#pragma once

namespace lockstep {

class MpiSession;

// From here on SIGTERM, SIGINT and SIGHUP end this process, with a report once there is one to
// give. `to_keeper` is the socket through which the keeper learns where the status board is.
void be_watched(int to_keeper);

// Shows the host's page to the keeper and starts the thread. Nothing to do in a process that is not
// kept.
void watch_for_the_end(MpiSession& session, int page_descriptor);

// Ends the process, but not before whoever tells the user about the failure is done.
[[noreturn]] void end_after_report(MpiSession& session, int exit_code);

}  // namespace lockstep
