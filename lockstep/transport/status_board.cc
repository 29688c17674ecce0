#include "lockstep/transport/status_board.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr int kPatience = 100'000;  // turns before a lock counts as left by a dead process
constexpr int kBetweenYields = 1000;
constexpr std::size_t kReasonBytes = 8192;
constexpr std::size_t kReportLines = 40;
constexpr double kSilent = 1;  // seconds

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) {
  const std::size_t length = std::min(std::strlen(from), N - 1);
  std::memcpy(to, from, length);
  to[length] = 0;
}

std::string place(const StatusLine::Snapshot& s) {
  if (s.operation[0] == 0) return "";
  if (s.phase[0] == 0) return fmt::format(" in {}", s.operation);
  return fmt::format(" in {}, {} step {} of {}", s.operation, s.phase, s.step + 1, s.steps);
}

std::string peer_name(const StatusLine::Snapshot& s) {
  return s.peer < 0 ? "anybody" : fmt::format("rank {}", s.peer);
}

// Coarse, so that ranks that wait for the same share a line.
std::string rounded(double seconds) {
  if (seconds >= 1) return fmt::format("{:.1f} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.0f} ms", seconds * 1e3) : format_seconds(seconds);
}

std::string describe(const StatusLine::Snapshot& s, double now) {
  const std::string last =
      s.completed == 0 ? "; nothing completed yet"
                       : fmt::format("; last completed: {} (number {})", s.last, s.completed);
  if (s.died[0] != 0) return fmt::format("died: {}{}{}", s.died, place(s), last);
  if (s.finished) return "finished" + last;
  if (s.waiting) {
    // A rank that waits looks around many times a second, unless somebody stopped it.
    const bool silent = s.alive > 0 && now - s.alive > kSilent;
    return fmt::format(
        "waiting {} for {} ({}){}{}{}", rounded(now - s.since), peer_name(s), s.what, place(s),
        last,
        silent ? fmt::format("; not heard of for {}: stopped or starved", rounded(now - s.alive))
               : "");
  }
  return fmt::format(
      "not waiting for anybody{}{}", place(s),
      s.completed == 0 ? last : fmt::format("{}, {} ago", last, rounded(now - s.ended)));
}

// 0, 1, 2, 5 → "0-2, 5"
std::string ranges(const std::vector<int>& ranks) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
    parts.push_back(i == j ? fmt::format("{}", ranks[i])
                           : fmt::format("{}-{}", ranks[i], ranks[j]));
    i = j + 1;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

// A lock of one word. Its holder may have been killed, so patience is finite: a torn line in a
// report beats a report that never comes.
void StatusLine::lock() const {
  for (int i = 0; i < kPatience; ++i) {
    if (lock_.exchange(1, std::memory_order_acquire) == 0) return;
    if (i % kBetweenYields == kBetweenYields - 1) sched_yield();  // its holder may be off its core
  }
}
void StatusLine::unlock() const {
  lock_.store(0, std::memory_order_release);
}

StatusLine::Snapshot StatusLine::Snapshot::received(double shift) const {
  Snapshot copy = *this;
  copy.since += shift;
  copy.ended += shift;
  if (copy.alive > 0) copy.alive += shift;
  copy.operation[sizeof copy.operation - 1] = 0;
  copy.phase[sizeof copy.phase - 1] = 0;
  copy.what[sizeof copy.what - 1] = 0;
  copy.last[sizeof copy.last - 1] = 0;
  copy.died[sizeof copy.died - 1] = 0;
  return copy;
}

void StatusLine::start(double now) {
  lock();
  now_ = Snapshot{};
  now_.used = true;
  now_.ended = now;
  unlock();
}
void StatusLine::begin(const char* operation) {
  lock();
  copy_text(now_.operation, operation);
  now_.phase[0] = 0;
  unlock();
}
void StatusLine::step(const char* phase, int index, int count) {
  lock();
  copy_text(now_.phase, phase);
  now_.step = index;
  now_.steps = count;
  unlock();
}
void StatusLine::end(double now) {
  lock();
  std::memcpy(now_.last, now_.operation, sizeof now_.last);
  now_.operation[0] = 0;
  now_.phase[0] = 0;
  ++now_.completed;
  now_.ended = now;
  unlock();
}
void StatusLine::wait(int peer, const char* what, double now) {
  lock();
  now_.waiting = true;
  now_.peer = peer;
  copy_text(now_.what, what);
  now_.since = now;
  now_.alive = 0;
  unlock();
}
void StatusLine::alive(double now) {
  lock();
  now_.alive = now;
  unlock();
}
void StatusLine::resume() {
  lock();
  now_.waiting = false;
  unlock();
}
void StatusLine::finish() {
  lock();
  now_.finished = true;
  unlock();
}
void StatusLine::die(const char* why) {
  lock();
  copy_text(now_.died, why);
  now_.waiting = false;
  unlock();
}
void StatusLine::overwrite(const Snapshot& snapshot) {
  lock();
  now_ = snapshot;
  unlock();
}
StatusLine::Snapshot StatusLine::read() const {
  lock();
  const Snapshot copy = now_;
  unlock();
  return copy;
}

struct alignas(kAlignment) StatusBoard::Failure {
  std::atomic<std::uint32_t> state{0};  // 0 none, 1 being written, 2 there
  char reason[kReasonBytes] = "";
};

std::size_t StatusBoard::bytes(int ranks) {
  return sizeof(Failure) + sizeof(StatusLine) * static_cast<std::size_t>(ranks) * kLanes;
}

StatusBoard::StatusBoard(void* memory, int ranks)
    : failure_(std::launder(reinterpret_cast<Failure*>(memory))),
      lines_(std::launder(
          reinterpret_cast<StatusLine*>(static_cast<std::byte*>(memory) + sizeof(Failure)))),
      ranks_(ranks) {}

StatusLine& StatusBoard::line(int rank, int lane) {
  return lines_[rank * kLanes + std::min(lane, kLanes - 1)];
}
const StatusLine& StatusBoard::line(int rank, int lane) const {
  return lines_[rank * kLanes + std::min(lane, kLanes - 1)];
}

double StatusBoard::companions_rest_since(int rank) const {
  double since = 0;
  for (int lane = 1; lane < kLanes; ++lane) {
    const StatusLine::Snapshot status = line(rank, lane).read();
    if (!status.used || status.finished) continue;
    if (!status.waiting || status.peer != rank) return std::numeric_limits<double>::infinity();
    since = std::max(since, status.since);
  }
  return since;
}

bool StatusBoard::fail(const std::string& reason) {
  std::uint32_t none = 0;
  if (!failure_->state.compare_exchange_strong(none, 1)) return false;
  copy_text(failure_->reason, reason.c_str());
  failure_->state.store(2, std::memory_order_release);
  return true;
}

bool StatusBoard::failed() const {
  return failure_->state.load(std::memory_order_acquire) == 2;
}

std::string StatusBoard::reason() const {
  return failed() ? failure_->reason : "";
}

std::string StatusBoard::report(double now) const {
  std::map<std::string, std::vector<int>> ranks_in_state;
  std::vector<std::string> order;
  for (int rank = 0; rank < ranks_; ++rank) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto status = line(rank, lane).read();
      if (!status.used && lane > 0) continue;
      std::string text = status.used ? describe(status, now) : "not heard of";
      if (lane > 0) text = fmt::format("companion {}: {}", lane, text);
      auto& ranks = ranks_in_state[text];
      if (ranks.empty()) order.push_back(text);
      ranks.push_back(rank);
    }
  }
  std::string report;
  for (std::size_t i = 0; i < order.size() && i < kReportLines; ++i) {
    const auto& ranks = ranks_in_state[order[i]];
    report +=
        fmt::format("\n  rank{} {}: {}", ranks.size() > 1 ? "s" : "", ranges(ranks), order[i]);
  }
  if (order.size() > kReportLines) {
    report += fmt::format("\n  … and {} more states", order.size() - kReportLines);
  }
  return report;
}

std::string timeout_reason(int rank, const StatusLine::Snapshot& s, double now, double timeout) {
  return fmt::format("rank {} waited {} for {} ({}){}; the limit is timeout = {} s", rank,
                     rounded(now - s.since), peer_name(s), s.what, place(s), timeout);
}

}  // namespace lockstep
