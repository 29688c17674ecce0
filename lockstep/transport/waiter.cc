#include "lockstep/transport/waiter.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr double kNapWithBell = 0.02;  // a failed run is noticed after this
constexpr double kLongestNap = 1e-3;
constexpr int kCompanionSpins = 20;
constexpr int kCompanionYields = 5;
constexpr int kLooksAtClock = 64;  // yields between two looks at the clock

void nap(double seconds) {
  timespec time{0, static_cast<long>(seconds * 1e9)};
  nanosleep(&time, nullptr);
}

}  // namespace

double wall_seconds() {
  // steady_clock is CLOCK_MONOTONIC: one for all processes of a host.
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Patience Patience::usual(int ranks, int cores, double timeout) {
  return ranks <= cores ? Patience{2000, 50, timeout} : Patience{20, 2000, timeout};
}

Waiter::Waiter(StatusBoard& board, int rank, int lane, Patience patience)
    : board_(board), line_(board.line(rank, lane)), rank_(rank), patience_(patience) {
  if (lane > 0) {  // a companion would take the core from its rank, which computes
    patience_.spins = std::min(patience_.spins, kCompanionSpins);
    patience_.yields = std::min(patience_.yields, kCompanionYields);
  }
  line_.start(wall_seconds());
}

void Waiter::check() const {
  if (board_.failed()) throw CommError("{}", board_.reason());
}

void Waiter::asked_in_vain(Transfer& transfer, const char* what) {
  const double now = wall_seconds();
  if (transfer.first_test == 0) transfer.first_test = now;
  if (transfer.peer == kAnyRank || now - transfer.first_test <= patience_.timeout) return;
  line_.wait(transfer.peer, what, transfer.first_test);
  if (on_nap) on_nap();
  fail(timeout_reason(rank_, line_.read(), now, patience_.timeout));
}

void Waiter::pause(double seconds) {
  const double end = wall_seconds() + seconds;
  for (double left = seconds; left > 0; left = end - wall_seconds()) {
    check();
    if (progress) progress();
    nap(std::min(left, progress ? kLongestNap : kNapWithBell));
    line_.alive(wall_seconds());
  }
}

void Waiter::fail(const std::string& reason) {
  board_.fail(reason + board_.report(wall_seconds()));
  while (!board_.failed()) sched_yield();  // somebody else is still writing his
  throw CommError("{}", board_.reason());
}

void Waiter::until_slowly(FunctionView<bool()> ready, FunctionView<int()> who, const char* what,
                          Doorbell* bell) {
  const double began = wall_seconds();
  int peer = who();
  line_.wait(peer, what, began);
  double pause = patience_.first_nap;
  for (int turn = 0; !ready(); ++turn) {
    check();
    if (bell != nullptr && progress) progress();
    if (turn < patience_.yields) {
      sched_yield();
      if (turn % kLooksAtClock != kLooksAtClock - 1) continue;
    } else if (bell != nullptr) {
      const std::uint32_t armed = bell->arm();
      if (!ready()) bell->sleep(armed, progress ? kLongestNap : kNapWithBell);
      bell->disarm();
    } else {
      nap(pause);
      pause = std::min(2 * pause, kLongestNap);
    }
    if (on_nap) on_nap();
    const double now = wall_seconds();
    line_.alive(now);
    if (who() != peer) {
      peer = who();
      line_.wait(peer, what, began);
    }
    // A companion may be without work for as long as its own rank computes, and a server, who
    // takes what anybody sends, for as long as all of them do.
    const bool rests = peer == kAnyRank || (peer == rank_ && &line_ != &board_.line(rank_));
    if (!rests && now - began > patience_.timeout) {
      // Asked before ready() is: a companion may deliver what is waited for and end in between.
      const double rested = peer == rank_ ? board_.companions_rest_since(rank_) : 0;
      if (ready() || now - rested <= patience_.timeout) continue;
      fail(timeout_reason(rank_, line_.read(), now, patience_.timeout));
    }
  }
  line_.resume();
}

}  // namespace lockstep
