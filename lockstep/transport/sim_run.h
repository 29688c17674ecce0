// What all actors of one simulated run share: the messages that wait for their other side, who
// sleeps, and how a run fails. Actors take turns on one thread and give it up only inside a
// simcall, so nothing here is locked.
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/transport/sim_platform.h"
#include "lockstep/transport/status_board.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

struct SimMessage;

// One actor: a rank or a companion of it.
struct SimLane {
  int rank = 0;
  StatusLine* line = nullptr;
  simgrid::s4u::SemaphorePtr bell;
  bool asleep = false;
  const SimMessage* awaits = nullptr;  // what it sleeps for, if for a message
  // The wait under way, for the watchdog.
  bool waiting = false;
  int peer = 0;
  const char* what = "";
  double since = 0;
};

// One message, seen from both sides. It travels when both are there, and its bytes are copied at
// that moment: both buffers belong to the transport then, and nobody may look before his wait.
struct SimMessage {
  int from = kAnyRank;  // of a receive from anybody: known once matched
  int to = 0;
  Tag tag = 0;
  std::span<const std::byte> data;
  std::span<std::byte> room;
  SimLane* sender = nullptr;
  SimLane* receiver = nullptr;
  simgrid::s4u::CommPtr comm;  // once matched
  bool arrived = false;
};
using SimMessagePtr = std::shared_ptr<SimMessage>;

class SimRun {
 public:
  SimRun(const ClusterDescription& cluster, int ranks, double timeout);

  // Starts an actor that runs `body` for `rank`, as its companion number `lane` if that is not 0.
  // Whatever the body throws ends the run. `ended` is called last.
  void start(int rank, int lane, std::function<void(Transport&)> body,
             std::function<void()> ended = {});
  // Runs the actors to their end and throws what World::run promises.
  void finish();

  int ranks() const { return ranks_; }
  const ClusterDescription& cluster() const { return cluster_; }
  int host_of(int rank) const { return cluster_.host_of_rank(rank, ranks_); }
  double now() const { return platform_.now(); }
  int next_lane(int rank) { return ++companions_[static_cast<std::size_t>(rank)]; }
  std::uint64_t next_charge(int rank) { return charges_[static_cast<std::size_t>(rank)]++; }

  SimMessagePtr send(SimLane& lane, int to, Tag tag, std::span<const std::byte> data);
  SimMessagePtr receive(SimLane& lane, int from, Tag tag, std::span<std::byte> room);
  void wait(SimLane& lane, SimMessage& message);  // until it has arrived
  bool test(SimMessage& message);                 // has it?
  // Whoever asks again and again waits too, and no longer than others, except for anybody.
  void asked_in_vain(SimLane& lane, Transfer& transfer);
  void withdraw(const SimMessagePtr& message);  // its owner gives it up

  void check() const;                    // throws if the run has failed
  void fail(const std::string& reason);  // wakes whoever sleeps
  // An exception is on its way through this lane's body: ends the run now, and leaves it to the
  // exception, once it has come through, to say why.
  void abandon(SimLane& lane);
  void sleep(SimLane& lane);  // until somebody wakes it
  void wake(SimLane& lane);
  double waits_since(const SimLane& lane) const;
  void watch();  // the watchdog: ends waits beyond the time-out

 private:
  // Messages to one rank under one tag that wait for their other side; one list is empty.
  struct Box {
    std::deque<SimMessagePtr> sends, receives;
  };
  Box& box(int to, Tag tag);
  void match(SimMessage& message);
  void body_failed(SimLane& lane);

  const ClusterDescription& cluster_;
  int ranks_;
  double timeout_;
  SimPlatform platform_;
  AlignedVector<std::byte> board_memory_;
  StatusBoard board_;
  std::deque<SimLane> lanes_;
  SimLane watchdog_;
  std::vector<int> companions_;
  std::vector<std::uint64_t> charges_;
  std::vector<std::unordered_map<Tag, Box>> boxes_;
  std::vector<simgrid::s4u::CommPtr> abandoned_;  // under way, but withdrawn by one side
  const SimLane* abandoning_ = nullptr;
  std::string reason_;           // why the run failed
  std::exception_ptr as_it_is_;  // the ConfigError or DataError that came first
};

}  // namespace lockstep
