// One run of the mpi world as this process sees it: the communicators, the status board, and what
// to do when a rank fails.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "lockstep/transport/mpi_control.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {

class MpiRun {
 public:
  // All processes of the session come here; throws a CommError if one does not within `timeout`.
  MpiRun(MpiSession& session, int ranks, double timeout);
  // Nothing is given back to MPI after a failure: a rank might still be using it.
  ~MpiRun();
  MpiRun(const MpiRun&) = delete;
  MpiRun& operator=(const MpiRun&) = delete;

  MpiSession& session() { return session_; }
  int ranks() const { return ranks_; }
  int rank() const { return session_.process(); }
  bool takes_part() const { return rank() < ranks_; }
  MPI_Comm comm() const { return comm_; }        // of the ranks: their messages
  MPI_Comm control() const { return control_; }  // of all processes: what the world itself says
  StatusBoard& board() { return board_; }
  const Patience& patience() const { return patience_; }

  // What a waiting rank does between naps.
  void look(StatusLine& line, int lane);
  // Waits until all ranks have finished, however long they take.
  void join();
  // A rank's body or companion has thrown: ends the run, unless it has ended already.
  void died(int lane, std::exception_ptr error);
  // Throws this process's own ConfigError or DataError, or what the board says.
  [[noreturn]] void rethrow();

  int next_lane() { return lanes_.fetch_add(1); }
  // This rank's body is being unwound: its companions end, but it is the body's error that counts.
  void abandon() { abandoned_ = true; }
  bool abandoned() const { return abandoned_; }

 private:
  void meet(double timeout);

  MpiSession& session_;
  int ranks_;
  MPI_Comm control_ = MPI_COMM_NULL;
  MPI_Comm comm_ = MPI_COMM_NULL;
  StatusBoard board_;
  Patience patience_;
  std::unique_ptr<MpiControl> news_;
  std::atomic<bool> abandoned_{false};
  std::atomic<int> lanes_{1};
  bool joined_ = false;
  std::mutex mutex_;  // of error_
  std::exception_ptr error_;
};

}  // namespace lockstep
