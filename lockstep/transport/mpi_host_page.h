// What the processes of one host, and the keepers beside them, know in common: the status board of
// the run under way, who is there, and who tells the user when the run fails. Plain shared memory:
// it can be read and written whatever state its other readers are in.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "lockstep/transport/mpi_window.h"
#include "lockstep/transport/status_board.h"

namespace lockstep {

class MpiHostPage {
 public:
  // Of every process that mpirun started; those of other hosts have no process id here.
  struct Process {
    std::atomic<int> id;
    std::atomic<std::uint32_t> runs;      // begun by it
    std::atomic<std::uint32_t> answered;  // has this host told it what its ranks are doing?
  };
  struct Head {
    std::atomic<int> processes;
    std::atomic<int> hosts;
    std::atomic<int> ranks;      // of the run under way, 0 between runs
    std::atomic<int> exit_code;  // of the failure, 0: none
    std::atomic<int> printer;    // process + 1 of who tells the user
    std::atomic<std::uint32_t> printed;
    std::atomic<std::uint32_t> told;         // do other hosts know of the failure?
    std::atomic<std::uint32_t> interrupted;  // did the user end it?
    std::atomic<std::uint32_t> asking;       // is somebody collecting what other hosts do?
  };

  static std::size_t bytes(int processes);
  explicit MpiHostPage(std::shared_ptr<MpiWindow> window);

  void introduce(int processes, int hosts);  // once, by the process that made the window
  void reset(int ranks);                     // before a run, by the same, while all others wait

  Head& head() const { return *head_; }
  Process& process(int i) const { return processes_[i]; }
  int processes() const { return head_->processes.load(); }
  // The lines of the run's ranks; those of processes beyond them stand behind.
  StatusBoard board(int ranks) const;
  StatusBoard board() const { return board(head_->ranks.load()); }

  // One process of the host tells the user about a failure: the first that claims it.
  bool claim_printing(int process) const;
  // Notes what the program ends with; the first to fail decides.
  void note_exit_code(int code) const;

 private:
  std::shared_ptr<MpiWindow> window_;
  Head* head_;
  Process* processes_;
};

}  // namespace lockstep
