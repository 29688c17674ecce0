#include "lockstep/sync/inbox.h"

namespace lockstep {

// A live run always has a receive open, so that a message can travel while the worker computes.
Inbox::Inbox(Transport& transport, Tag tag, Arrivals& arrivals, std::span<std::byte> room)
    : transport_(transport), tag_(tag), arrivals_(arrivals), room_(room) {
  if (!arrivals_.replays()) listen(kAnyRank);
}

void Inbox::listen(int from) {
  request_ = transport_.irecv(from, tag_, room_);
}

bool Inbox::look() {
  if (!arrivals_.replays()) {
    if (!transport_.test(request_)) return false;
  } else {
    const int next = arrivals_.next();
    if (next == kAnyRank || next == transport_.rank()) return false;
    listen(next);
    transport_.wait(request_);
  }
  arrivals_.note(request_.peer());
  return true;
}

// Nobody sends to himself, so in the record one's own rank stands for the end of a look.
void Inbox::end_look() {
  arrivals_.note(transport_.rank());
}

void Inbox::await() {
  if (arrivals_.replays()) {
    const int next = arrivals_.next();
    listen(next == transport_.rank() ? kAnyRank : next);  // not what the record says: note() throws
  }
  transport_.wait(request_);
  arrivals_.note(request_.peer());
}

void Inbox::done() {
  if (!arrivals_.replays()) listen(kAnyRank);
}

}  // namespace lockstep
