// In which order messages came to a place where the order counts: a server shard, or the inbox of a
// worker that gossips. A live run takes whoever comes and writes it down; a replay has the list and
// takes them in that order, which makes an asynchronous run repeatable to the bit.
#pragma once

#include <cstdint>
#include <vector>

#include "lockstep/transport/transport.h"

namespace lockstep {

class Arrivals {
 public:
  Arrivals() = default;
  explicit Arrivals(std::vector<int> order) : replays_(true), order_(std::move(order)) {}

  bool replays() const { return replays_; }
  // The rank whose message is to be taken next; kAnyRank in a live run, and when a replay has come
  // to the end of its list.
  int next() const;
  // A DataError if it is a replay and somebody else was next.
  void note(int from);
  // Those noted since the last call.
  std::vector<int> take_noted();

 private:
  bool replays_ = false;
  std::vector<int> order_;  // of a replay
  std::vector<int> noted_;
  std::int64_t count_ = 0;  // noted so far
};

}  // namespace lockstep
