// What every rank is doing, where all ranks of a host can read it. It is plain memory, so that it
// may lie in a window shared by processes and still be read when the rank that wrote it is dead.
// It also holds the one failure that ends a run: the first to fail writes it, the rest report it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lockstep {

inline constexpr int kLanes = 4;  // a rank itself and its companions; more share the last line

// One rank's (or companion's) line. Its methods are for its owner; reading is for everybody.
class StatusLine {
 public:
  struct Snapshot {
    bool used = false;
    bool finished = false;
    char operation[40] = "";  // under way, or ""
    char phase[32] = "";
    int step = 0, steps = 0;
    bool waiting = false;
    int peer = 0;        // kAnyRank: anybody
    char what[16] = "";  // "receive", "send", "meet"
    double since = 0;    // of the wait
    double alive = 0;    // when a waiting rank last looked; 0 where nobody notes it
    double ended = 0;    // of the last completed operation
    std::uint64_t completed = 0;
    char last[40] = "";   // the last completed operation
    char died[160] = "";  // what ended this rank

    // As it came from another host: times by a clock that was `shift` behind, texts from anywhere.
    Snapshot received(double shift) const;
  };

  void start(double now);
  void begin(const char* operation);
  void step(const char* phase, int index, int count);
  void end(double now);
  void wait(int peer, const char* what, double now);
  void alive(double now);  // still waiting, and still there
  void resume();
  void finish();
  void die(const char* why);
  void overwrite(const Snapshot& snapshot);  // with what another host said of this rank

  Snapshot read() const;

 private:
  void lock() const;
  void unlock() const;
  mutable std::atomic<std::uint32_t> lock_{0};
  Snapshot now_;
};

class StatusBoard {
 public:
  // `memory` must be zeroed, aligned to a cache line and bytes(ranks) long.
  static std::size_t bytes(int ranks);
  StatusBoard(void* memory, int ranks);

  int ranks() const { return ranks_; }
  StatusLine& line(int rank, int lane = 0);
  const StatusLine& line(int rank, int lane = 0) const;

  // Since when all companions of the rank have been waiting for it; infinity while one is at work.
  // As long the rank may wait for them: what keeps a companion waiting for others is noticed there.
  double companions_rest_since(int rank) const;

  // The first reason stays; returns whether this was it.
  bool fail(const std::string& reason);
  bool failed() const;
  std::string reason() const;

  // One line a rank; ranks in the same state share a line. `now` is seconds as in the lines.
  std::string report(double now) const;

 private:
  struct Failure;
  Failure* failure_;
  StatusLine* lines_;
  int ranks_;
};

// "rank 3 waited 60.0 s for rank 1 in all-reduce ring, share-reduce step 2 of 3 (receive)…"
std::string timeout_reason(int rank, const StatusLine::Snapshot& status, double now,
                           double timeout);

}  // namespace lockstep
