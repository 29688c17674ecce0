#include "lockstep/train/interrupt.h"

#include <signal.h>

#include <array>
#include <atomic>

#include "lockstep/base/error.h"
#include "lockstep/train/exchange.h"

namespace lockstep {
namespace {

constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};

// All a handler may touch: no locks, no memory from the heap.
std::atomic<bool> watching{false};
std::atomic<int> noted{0};
static_assert(std::atomic<int>::is_always_lock_free);
std::array<struct sigaction, kSignals.size()> before;  // set before the handler can run

void on_signal(int signal) {
  if (noted.exchange(signal) == 0 || signal != SIGINT) return;
  // The user is impatient. Delivered once this handler has returned.
  sigaction(SIGINT, before.data(), nullptr);
  raise(SIGINT);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  LOCKSTEP_CHECK(!watching.exchange(true), "two watches for interrupts at once");
  noted = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // reading and writing go on as if nothing had been
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptWatch::~InterruptWatch() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
  watching = false;
}

int interrupt_signal() {
  return noted;
}

bool anybody_interrupted(Group& group) {
  return any_member(group, interrupt_signal() != 0);
}

}  // namespace lockstep
