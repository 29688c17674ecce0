// What hosts tell each other when a run fails. On one host the status board says it all; between
// hosts it takes messages, on a communicator of their own. There are three: "what are your ranks
// doing?" (asked by a rank whose time is over, so that its report covers everybody), the answer,
// and "the run has failed" with the report. Ranks look for them whenever they nap.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lockstep/transport/mpi_session.h"

namespace lockstep {

class MpiControl {
 public:
  // `comm` has all processes of the session.
  MpiControl(MpiSession& session, MPI_Comm comm, StatusBoard& board);
  ~MpiControl();

  // Deals with what has come. Does nothing where there is one host only.
  void look();
  // Fetches onto the board what the ranks of other hosts do, as far as they answer in time.
  void ask();
  // Tells other hosts that this one's board has failed, unless they know.
  void tell();

 private:
  struct Letter;

  void send(int process, const std::vector<std::byte>& bytes);
  void send_to_other_hosts(const std::vector<std::byte>& bytes);
  void read(const std::vector<std::byte>& bytes);
  void answer(int asker);
  bool progress();  // whether all letters are gone

  MpiSession& session_;
  MPI_Comm comm_;
  StatusBoard& board_;
  std::mutex mutex_;  // of letters_: companions look too
  std::vector<std::unique_ptr<Letter>> letters_;
};

}  // namespace lockstep
