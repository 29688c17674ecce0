// Where a worker finds what anybody has sent it, without waiting. A live run takes messages as they
// come and writes down whose they were; a replay takes the same ones at the same looks.
#pragma once

#include <span>

#include "lockstep/server/arrivals.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

class Inbox {
 public:
  // Messages arrive in `room`, one at a time. Both must outlive the inbox.
  Inbox(Transport& transport, Tag tag, Arrivals& arrivals, std::span<std::byte> room);

  // Is there a message? If so, arrived() tells of it, and done() must follow. Ask until there is
  // none, then end the look.
  bool look();
  void end_look();
  // Waits for a message that is known to come.
  void await();

  const Request& arrived() const { return request_; }
  void done();

 private:
  void listen(int from);

  Transport& transport_;
  Tag tag_;
  Arrivals& arrivals_;
  std::span<std::byte> room_;
  Request request_;
};

}  // namespace lockstep
