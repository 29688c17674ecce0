#include "lockstep/transport/mpi_companion.h"

#include "lockstep/transport/mpi_transport.h"

namespace lockstep {

MpiCompanion::MpiCompanion(MpiRun& run, std::function<void(Transport&)> body) : run_(run) {
  const int lane = run.next_lane();
  // At work from here on, whenever its thread may come to it.
  run.board().line(run.rank(), lane).start(wall_seconds());
  thread_ = std::thread([this, lane, work = std::move(body)] {
    try {
      MpiTransport transport(run_, lane);
      work(transport);
      run_.board().line(run_.rank(), lane).finish();
    } catch (...) {
      error_ = std::current_exception();
      run_.died(lane, error_);
    }
  });
}

// While an exception passes through the body its companions may be waiting for messages that will
// not come: they must end for the exception to get out.
MpiCompanion::~MpiCompanion() {
  if (!thread_.joinable()) return;
  if (std::uncaught_exceptions() > 0) run_.abandon();
  thread_.join();
}

void MpiCompanion::join() {
  if (thread_.joinable()) thread_.join();
  if (error_) std::rethrow_exception(error_);
}

}  // namespace lockstep
