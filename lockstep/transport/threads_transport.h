// Ranks that are threads of one process.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lockstep/transport/status_board.h"
#include "lockstep/transport/threads_mailbox.h"
#include "lockstep/transport/transport.h"
#include "lockstep/transport/waiter.h"

namespace lockstep {

// What the ranks of one run have in common.
struct ThreadsRun {
  ThreadsRun(int ranks, Patience patience);

  std::shared_ptr<void> space_memory(const std::vector<int>& ranks, int lane, int ordinal);
  // Notes the error that a rank or companion ended with; others learn of it in their waits.
  void record(int rank, int lane, std::exception_ptr error);

  int exit_code();  // of the failure that came first

  Patience patience;
  std::shared_ptr<void> board_memory;
  StatusBoard board;
  std::vector<Mailbox> boxes;
  std::vector<std::atomic<int>> lanes;  // companions started so far, by rank

  std::mutex mutex;
  std::map<std::tuple<std::vector<int>, int, int>, std::shared_ptr<void>> spaces;
  std::exception_ptr first_error;  // the first that was not an echo of another rank's failure
  std::string first_reason;        // what it said, and what every rank was doing then
};

class ThreadsTransport : public Transport {
 public:
  ThreadsTransport(ThreadsRun& run, int rank, int lane);

  int rank() const override { return rank_; }
  int size() const override { return run_.board.ranks(); }
  int host_of(int) const override { return 0; }
  Request isend(int to, Tag tag, std::span<const std::byte> data) override;
  Request irecv(int from, Tag tag, std::span<std::byte> buffer) override;
  void wait(Request& request) override;
  bool test(Request& request) override;
  void read(int from, Tag tag, std::size_t bytes, std::size_t piece, const Visit& visit) override;
  double now() const override { return wall_seconds(); }
  void charge(double) override {}
  void pause(double seconds) override { waiter_.pause(seconds); }
  std::size_t piece_bytes() const override { return std::size_t{1} << 18; }
  Task spawn(std::function<void(Transport&)> body) override;
  std::shared_ptr<SharedSpace> shared_space(std::span<const int> ranks) override;
  void begin_operation(const char* name) override { waiter_.line().begin(name); }
  void step(const char* phase, int index, int count) override {
    waiter_.line().step(phase, index, count);
  }
  void end_operation() override { waiter_.line().end(now()); }

 private:
  struct Sending;
  struct Receiving;
  // One that nobody else holds any more, or a new one.
  std::shared_ptr<Envelope> unused_envelope();
  void await_match(Waiting& receive, const char* what);
  // Locks the envelope's data for reading; a CommError if its sender has gone or it does not fit.
  void open(const Waiting& receive, std::size_t room);

  ThreadsRun& run_;
  int rank_;
  int lane_;
  Waiter waiter_;
  std::vector<std::shared_ptr<Envelope>> envelopes_;  // to be used again
  std::map<std::vector<int>, int> spaces_asked_;
};

}  // namespace lockstep
