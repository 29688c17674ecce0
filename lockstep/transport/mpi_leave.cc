#include "lockstep/transport/mpi_leave.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "lockstep/transport/mpi_session.h"
#include "lockstep/transport/mpi_watch.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {
namespace {

constexpr double kOthersCome = 2;  // seconds for the others to reach their end after a failure

bool others_come() {
  MPI_Request barrier = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(MpiSession::get().world(), &barrier) != MPI_SUCCESS) return false;
  const double began = wall_seconds();
  int done = 0;
  while (MPI_Test(&barrier, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done) {
    if (wall_seconds() - began > kOthersCome) return false;
    const timespec nap{0, 100'000};
    nanosleep(&nap, nullptr);
  }
  return done != 0;
}

void finish(int status, void*) {
  const bool well = status == 0 && !MpiSession::get().failed();
  if (well || others_come()) {
    MPI_Finalize();
    return;
  }
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

void finish_mpi_at_exit() {
  on_exit(finish, nullptr);
}

void mpi_leave(int exit_code) {
  if (exit_code == 0) std::exit(0);
  std::fflush(nullptr);
  MpiSession* const session = MpiSession::running();
  if (session == nullptr) _exit(exit_code);
  end_after_report(*session, exit_code);
}

}  // namespace lockstep
