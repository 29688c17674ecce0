// This process among those that mpirun started. MPI is started once a process, at the first use of
// the mpi world, and finalized when the process ends normally.
#pragma once

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <memory>
#include <vector>

#include "lockstep/transport/mpi_host_page.h"

namespace lockstep {

// Did mpirun, srun or the like start this program? Looks at the environment only.
bool started_by_mpi();
// The rank they gave this process, or 0. Good before MPI runs; afterwards World::leads() knows.
int launched_rank();

// Turns what an MPI call returned into a CommError.
void mpi_check(int code, const char* call);

// Ends this process when a run has failed: at once, without asking MPI or the other processes for
// anything. The program's exit code is that of the first failure, even if this process only heard
// of it. With 0 it is std::exit.
[[noreturn]] void mpi_leave(int exit_code);

class MpiSession {
 public:
  // Starts MPI at the first call. Throws a ConfigError if the library cannot serve threads.
  static MpiSession& get();
  // Nothing if MPI has not been started: never starts it.
  static MpiSession* running();

  MPI_Comm world() const { return world_; }  // only for setting up runs
  int process() const { return process_; }
  int processes() const { return processes_; }
  // Equal for processes that share memory. LOCKSTEP_RANKS_PER_HOST=k makes every k processes of a
  // machine a host of their own, so that tests can cross hosts on one machine.
  int host_of(int process) const { return hosts_[static_cast<std::size_t>(process)]; }
  int host() const { return host_of(process_); }
  int hosts() const { return host_count_; }
  bool leads_host() const;  // the lowest process of its host
  MpiHostPage& page() { return *page_; }
  // What to add to this machine's clock to get that of process 0.
  double clock_offset() const { return clock_offset_; }

  // A failed run leaves messages and communicators behind: the end is more careful then.
  void note_failure() { failed_ = true; }
  bool failed() const { return failed_; }

 private:
  MpiSession();
  void find_hosts();
  void share_page();
  void set_clock();

  MPI_Comm world_ = MPI_COMM_NULL;
  int process_ = 0;
  int processes_ = 1;
  int host_count_ = 1;
  std::vector<int> machines_;  // per process: the lowest process on its machine
  std::vector<int> hosts_;
  std::unique_ptr<MpiHostPage> page_;
  double clock_offset_ = 0;
  bool failed_ = false;
};

}  // namespace lockstep
