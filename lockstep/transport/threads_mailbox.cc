#include "lockstep/transport/threads_mailbox.h"

#include <sched.h>

#include <algorithm>

namespace lockstep {

Mailbox::Mailbox() {
  constexpr std::size_t kUsual = 64;
  waiting_.reserve(kUsual);
  arrived_.reserve(kUsual);
}

void Mailbox::deliver(std::shared_ptr<Envelope> envelope) {
  {
    const std::lock_guard lock(mutex_);
    const auto taker = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](Waiting* w) { return w->takes(*envelope); });
    if (taker == waiting_.end()) {
      arrived_.push_back(std::move(envelope));
      return;
    }
    Waiting* receive = *taker;
    waiting_.erase(taker);
    receive->envelope = std::move(envelope);
    receive->matched.store(true, std::memory_order_release);
  }
  bell.ring();
}

void Mailbox::post(Waiting& receive) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(arrived_.begin(), arrived_.end(),
                                  [&](const auto& envelope) { return receive.takes(*envelope); });
  if (found == arrived_.end()) {
    waiting_.push_back(&receive);
    return;
  }
  receive.envelope = std::move(*found);
  arrived_.erase(found);
  receive.matched.store(true, std::memory_order_release);
}

void Mailbox::withdraw(Waiting& receive) {
  const std::lock_guard lock(mutex_);
  std::erase(waiting_, &receive);
  // A message nobody will read any more: let its sender go.
  if (receive.envelope) release(*receive.envelope);
}

void Mailbox::withdraw(const std::shared_ptr<Envelope>& envelope) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(arrived_, envelope);
  }
  Envelope::State expected = Envelope::kOpen;
  if (envelope->state.compare_exchange_strong(expected, Envelope::kWithdrawn)) return;
  // The receiver is reading right now; it will not take long.
  while (envelope->state.load(std::memory_order_acquire) == Envelope::kReading) sched_yield();
}

void release(Envelope& envelope) {
  Doorbell* const bell = envelope.sender_bell;
  envelope.state.store(Envelope::kDone, std::memory_order_release);
  bell->ring();
}

}  // namespace lockstep
