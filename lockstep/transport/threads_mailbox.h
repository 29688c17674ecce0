// Where messages between threads meet their receivers. Small messages are copied and the sender
// goes on; larger ones stay where they are, and the receiver reads the sender's buffer.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/transport/doorbell.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

// A message on its way. Both ends hold it; `state` says who may touch the data. Its sender uses it
// again once the receiver has let go of it.
struct Envelope {
  enum State { kOpen, kReading, kDone, kWithdrawn };

  int from;
  Tag tag;
  std::span<const std::byte> data;
  AlignedVector<std::byte> copy;  // of a small message: what data points to
  Doorbell* sender_bell;
  std::atomic<State> state{kOpen};
};

// One receive that waits for its envelope.
struct Waiting {
  int from;
  Tag tag;
  std::shared_ptr<Envelope> envelope;  // set once, before `matched`
  std::atomic<bool> matched{false};

  bool takes(const Envelope& e) const {
    return e.tag == tag && (from == kAnyRank || e.from == from);
  }
};

class Mailbox {
 public:
  Mailbox();

  Doorbell bell;  // of the rank that owns this box; rings on arrivals and on completed sends

  // Hands the envelope to the receive that was posted first among those that take it.
  void deliver(std::shared_ptr<Envelope> envelope);
  // Takes the envelope that arrived first among those it takes, or waits for the next.
  void post(Waiting& receive);
  // Called before a receive or a send that is not complete goes away.
  void withdraw(Waiting& receive);
  void withdraw(const std::shared_ptr<Envelope>& envelope);

 private:
  std::mutex mutex_;
  std::vector<Waiting*> waiting_;  // both in the order in which they came; never many
  std::vector<std::shared_ptr<Envelope>> arrived_;
};

// Done with the data: the sender may use its buffer again.
void release(Envelope& envelope);

}  // namespace lockstep
