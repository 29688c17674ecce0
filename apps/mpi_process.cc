#include "apps/mpi_process.h"

#include <cstdlib>
#include <iostream>

#include "lockstep/base/error.h"

#ifdef LOCKSTEP_HAVE_MPI
#include "lockstep/transport/mpi_keeper.h"
#include "lockstep/transport/mpi_launch.h"
#include "lockstep/transport/mpi_native.h"
#include "lockstep/transport/mpi_session.h"

namespace lockstep {
namespace {

int main_argc = 0;
char** main_argv = nullptr;

// Who tells the user: before MPI runs the first process, afterwards one of each host.
bool speaks() {
  if (MpiSession* session = MpiSession::running()) {
    return session->page().claim_printing(session->process());
  }
  return launched_rank() == 0;
}

}  // namespace

void become_mpi_process(int argc, char** argv) {
  main_argc = argc;
  main_argv = argv;
  if (started_by_mpi()) keep_worker(argc, argv);
}

bool under_mpi() {
  return started_by_mpi();
}

int run_again_under_mpirun(int ranks) {
  return run_under_mpirun(ranks, main_argc, main_argv);
}

void leave_with_error(int code, const std::string& message) {
  if (!started_by_mpi() || speaks()) std::cerr << "lockstep: " << message << std::endl;
  if (started_by_mpi()) mpi_leave(code);
  std::exit(code);
}

bool library_all_reduce(Transport& transport, std::span<float> data, ReduceOp op) {
  const Reduction reduction = Reduction::over(op, transport.size());
  const MpiNativeOp native = reduction.op == ReduceOp::kMax   ? MpiNativeOp::kMax
                             : reduction.op == ReduceOp::kMin ? MpiNativeOp::kMin
                                                              : MpiNativeOp::kSum;
  if (!mpi_allreduce(transport, data, native)) return false;
  finish(reduction, data);
  return true;
}

}  // namespace lockstep

#else

namespace lockstep {

void become_mpi_process(int, char**) {}
bool under_mpi() {
  return false;
}
int run_again_under_mpirun(int) {
  throw InternalError("no mpi world in this build");
}
void leave_with_error(int code, const std::string& message) {
  std::cerr << "lockstep: " << message << std::endl;
  std::exit(code);
}
bool library_all_reduce(Transport&, std::span<float>, ReduceOp) {
  return false;
}

}  // namespace lockstep

#endif
