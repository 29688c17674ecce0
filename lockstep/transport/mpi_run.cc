#include "lockstep/transport/mpi_run.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/transport/transport.h"

namespace lockstep {
namespace {

constexpr double kRestingNap = 1e-3;

int ranks_on_host(const MpiSession& session, int ranks) {
  int count = 0;
  for (int rank = 0; rank < ranks; ++rank) count += session.host_of(rank) == session.host() ? 1 : 0;
  return count;
}

std::string what_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

int exit_code_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    return e.exit_code();
  } catch (...) {
    return CommError::kExitCode;
  }
}

}  // namespace

MpiRun::MpiRun(MpiSession& session, int ranks, double timeout)
    : session_(session),
      ranks_(ranks),
      board_(session.page().board(ranks)),
      // mpirun may have bound this process to one core, but the host's ranks share all of them.
      patience_(Patience::usual(ranks_on_host(session, ranks),
                                static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), timeout)) {
  meet(timeout);
  if (session_.leads_host()) session_.page().reset(ranks);
  // From here on all processes are in these calls and do nothing else: they cannot hang.
  mpi_check(MPI_Comm_dup(session_.world(), &control_), "MPI_Comm_dup");
  if (takes_part()) {
    std::vector<int> members(static_cast<std::size_t>(ranks));
    std::iota(members.begin(), members.end(), 0);
    MPI_Group all, group;
    MPI_Comm_group(control_, &all);
    MPI_Group_incl(all, ranks, members.data(), &group);
    const int code = MPI_Comm_create_group(control_, group, 0, &comm_);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    mpi_check(code, "MPI_Comm_create_group");
  }
  mpi_check(MPI_Barrier(control_), "MPI_Barrier");
  news_ = std::make_unique<MpiControl>(session_, control_, board_);
}

// An all-reduce that also finds out whether all want the same run.
void MpiRun::meet(double timeout) {
  auto& mine = session_.page().process(session_.process()).runs;
  const std::uint32_t number = mine.fetch_add(1) + 1;
  // MPI may still write here after this has given up: then it is never freed.
  auto kept = std::make_unique<std::array<int, 2>>(std::array{ranks_, -ranks_});
  auto& wanted = *kept;
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_check(
      MPI_Iallreduce(MPI_IN_PLACE, wanted.data(), 2, MPI_INT, MPI_MAX, session_.world(), &request),
      "MPI_Iallreduce");
  const double began = wall_seconds();
  int done = 0;
  for (int turn = 0; done == 0; ++turn) {
    mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0 || turn < 100) continue;
    const timespec nap{0, turn < 1000 ? 20'000 : 1'000'000};
    nanosleep(&nap, nullptr);
    if (wall_seconds() - began < timeout) continue;
    std::string missing;
    for (int p = 0; p < session_.processes(); ++p) {
      const auto& process = session_.page().process(p);
      if (process.id.load() != 0 && process.runs.load() < number) {
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", p);
      }
    }
    static_cast<void>(kept.release());
    throw CommError(
        "process {} waited {} s for the others to begin a run of {} ranks; not there: {}; the "
        "limit is timeout",
        session_.process(), timeout, ranks_,
        missing.empty() ? "processes on other hosts" : "processes " + missing);
  }
  if (wanted[0] != -wanted[1]) {
    throw CommError(
        "one process begins a run of {} ranks and another one of {}: they do not run "
        "the same program or configuration",
        wanted[0], -wanted[1]);
  }
}

MpiRun::~MpiRun() {
  if (!joined_) {
    session_.note_failure();
    return;
  }
  news_.reset();
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  MPI_Comm_free(&control_);
}

void MpiRun::look(StatusLine& line, int lane) {
  if (lane > 0 && abandoned_) throw CommError("rank {} is ending", rank());
  if (session_.hosts() == 1) return;
  news_->look();
  const auto status = line.read();
  // A companion without work, and who waits for one at work, writes no report.
  const bool rests =
      status.peer == kAnyRank ||
      (status.peer == rank() &&
       (lane > 0 || wall_seconds() - board_.companions_rest_since(rank()) <= patience_.timeout));
  if (status.waiting && !rests && !status.finished &&
      wall_seconds() - status.since > patience_.timeout) {
    news_->ask();  // the waiter is about to write its report
  }
}

// A rank that has finished has nothing to wait for but the others' end: no time-out, but it must
// hear of a failure.
void MpiRun::join() {
  StatusBoard lines = session_.page().board(session_.processes());
  Patience patience = patience_;
  patience.timeout = std::numeric_limits<double>::infinity();
  // It must not take a core from those that are still at work.
  patience.spins = 0;
  patience.yields = 0;
  patience.first_nap = kRestingNap;
  StatusLine& line = lines.line(rank());
  const auto before = line.read();
  Waiter waiter(lines, rank(), 0, patience);
  line.overwrite(before);  // what the rank did last is still of interest
  line.finish();
  waiter.on_nap = [&] { look(line, 0); };
  MPI_Request request = MPI_REQUEST_NULL;
  mpi_check(MPI_Ibarrier(control_, &request), "MPI_Ibarrier");
  waiter.until(
      [&] {
        int done = 0;
        mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        return done != 0;
      },
      [] { return kAnyRank; }, "end", nullptr);
  session_.page().head().ranks.store(0);
  joined_ = true;
}

void MpiRun::died(int lane, std::exception_ptr error) {
  if (lane > 0 && abandoned_) return;
  const std::lock_guard guard(mutex_);
  if (!error_) error_ = error;
  const std::string what = what_of(error);
  if (!board_.failed()) {
    board_.line(rank(), lane).die(what.c_str());
    news_->ask();
    session_.page().note_exit_code(exit_code_of(error));
    session_.page().claim_printing(session_.process());
    board_.fail(fmt::format("rank {} failed: {}{}", rank(), what, board_.report(wall_seconds())));
  }
  while (!board_.failed()) sched_yield();
  session_.page().note_exit_code(exit_code_of(error));
  news_->tell();
}

void MpiRun::rethrow() {
  if (error_ && exit_code_of(error_) != CommError::kExitCode) std::rethrow_exception(error_);
  throw CommError("{}", board_.reason());
}

}  // namespace lockstep
