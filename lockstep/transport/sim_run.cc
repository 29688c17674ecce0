#include "lockstep/transport/sim_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/transport/sim_simcall.h"
#include "lockstep/transport/sim_transport.h"

namespace lockstep {
namespace {

namespace s4u = simgrid::s4u;

// The watchdog looks at most this often in a time-out.
constexpr double kLooks = 100;

bool fits(int wanted, int offered) {
  return wanted == kAnyRank || wanted == offered;
}

}  // namespace

SimRun::SimRun(const ClusterDescription& cluster, int ranks, double timeout)
    : cluster_(cluster),
      ranks_(ranks),
      timeout_(timeout),
      platform_(cluster, ranks),
      board_memory_(StatusBoard::bytes(ranks), std::byte{0}),
      board_(board_memory_.data(), ranks),
      companions_(static_cast<std::size_t>(ranks), 0),
      charges_(static_cast<std::size_t>(ranks), 0),
      boxes_(static_cast<std::size_t>(ranks)) {
  watchdog_.bell = s4u::Semaphore::create(0);
}

void SimRun::start(int rank, int lane, std::function<void(Transport&)> body,
                   std::function<void()> ended) {
  lanes_.push_back({});
  SimLane& mine = lanes_.back();
  mine.rank = rank;
  mine.line = &board_.line(rank, lane);
  mine.bell = s4u::Semaphore::create(0);
  mine.line->start(now());
  // SimGrid copies what it is given and frees it late; the body must be one, and gone at the end.
  const auto job = std::make_shared<std::function<void(Transport&)>>(std::move(body));
  const auto main = [this, &mine, job, ended = std::move(ended)] {
    try {
      SimTransport transport(*this, mine);
      (*job)(transport);
      mine.line->finish();
    } catch (const simgrid::ForcefulKillException&) {
      throw;  // how SimGrid ends an actor
    } catch (...) {
      body_failed(mine);
    }
    *job = nullptr;
    if (ended) ended();
  };
  s4u::Host* host = platform_.host(host_of(rank));
  simcall([&] { s4u::Actor::create(fmt::format("rank{}.{}", rank, lane), host, main); });
}

void SimRun::finish() {
  // A daemon: it ends with the last of the others, and while it lives SimGrid sees no deadlock.
  s4u::Actor::create("watchdog", platform_.host(0), [this] { watch(); })->daemonize();
  platform_.run();
  if (!board_.failed()) return;
  if (as_it_is_) std::rethrow_exception(as_it_is_);
  throw CommError("{}", reason_);
}

// Called in a catch block. If the run has failed already, this error is only the echo of that.
void SimRun::body_failed(SimLane& lane) {
  if (board_.failed() && &lane != abandoning_) return;
  std::string what = "unknown exception";
  try {
    throw;
  } catch (const CommError& error) {
    what = error.what();
  } catch (const Error& error) {
    as_it_is_ = std::current_exception();
    what = error.what();
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  lane.line->die(what.c_str());
  const std::string reason = fmt::format("rank {} failed: {}", lane.rank, what);
  fail(reason);
  if (abandoning_ == &lane) reason_ = reason + board_.report(now());
}

void SimRun::abandon(SimLane& lane) {
  if (board_.failed()) return;
  abandoning_ = &lane;
  fail(fmt::format("rank {} failed while its companion was at work", lane.rank));
}

void SimRun::asked_in_vain(SimLane& lane, Transfer& transfer) {
  // A moment later than now, as 0 stands for never.
  if (transfer.first_test == 0) transfer.first_test = std::nextafter(now(), HUGE_VAL);
  if (transfer.peer == kAnyRank || now() - transfer.first_test <= timeout_) return;
  lane.line->wait(transfer.peer, "test", transfer.first_test);
  fail(timeout_reason(lane.rank, lane.line->read(), now(), timeout_));
  check();
}

void SimRun::check() const {
  if (board_.failed()) throw CommError("{}", board_.reason());
}

// Whoever travels or computes wakes up by himself, in simulated time that costs nothing.
void SimRun::fail(const std::string& reason) {
  if (!board_.fail(reason + board_.report(now()))) return;
  reason_ = board_.reason();
  for (SimLane& lane : lanes_) wake(lane);
}

void SimRun::sleep(SimLane& lane) {
  lane.asleep = true;
  simcall([&] { lane.bell->acquire(); });
}

void SimRun::wake(SimLane& lane) {
  if (!lane.asleep) return;
  lane.asleep = false;
  simcall([&] { lane.bell->release(); });
}

// Who waits for its own companions does so from the moment that they have nothing to do.
double SimRun::waits_since(const SimLane& lane) const {
  if (lane.peer != lane.rank) return lane.since;
  return std::max(lane.since, board_.companions_rest_since(lane.rank));
}

// Rests while nobody waits: a rank may compute for years, and looking at it would take for ever.
void SimRun::watch() {
  while (!board_.failed()) {
    const SimLane* slowest = nullptr;
    for (const SimLane& lane : lanes_) {
      // A companion may be without work for as long as its own rank computes, and a server, who
      // takes what anybody sends, for as long as all of them do.
      const bool companion = lane.line != &board_.line(lane.rank);
      const bool rests = lane.peer == kAnyRank || (lane.peer == lane.rank && companion);
      if (!lane.waiting || rests) continue;
      if (slowest == nullptr || waits_since(lane) < waits_since(*slowest)) slowest = &lane;
    }
    if (slowest == nullptr || std::isinf(waits_since(*slowest))) {
      sleep(watchdog_);
      continue;
    }
    const double deadline = waits_since(*slowest) + timeout_;
    if (now() >= deadline) {
      auto status = slowest->line->read();
      status.peer = slowest->peer;
      status.since = slowest->since;
      fail(timeout_reason(slowest->rank, status, now(), timeout_));
      return;
    }
    const double next = std::max(deadline, now() + timeout_ / kLooks);
    s4u::this_actor::sleep_until(platform_.began() + next);
  }
}

SimRun::Box& SimRun::box(int to, Tag tag) {
  return boxes_[static_cast<std::size_t>(to)][tag];
}

SimMessagePtr SimRun::send(SimLane& lane, int to, Tag tag, std::span<const std::byte> data) {
  check();
  LOCKSTEP_CHECK(to >= 0 && to < ranks_, "rank {} sends to rank {} of {}", lane.rank, to, ranks_);
  auto& [sends, receives] = box(to, tag);
  const auto other =
      std::find_if(receives.begin(), receives.end(),
                   [&](const SimMessagePtr& waits) { return fits(waits->from, lane.rank); });
  const bool found = other != receives.end();
  const SimMessagePtr message = found ? *other : std::make_shared<SimMessage>();
  message->from = lane.rank;
  message->to = to;
  message->tag = tag;
  message->data = data;
  message->sender = &lane;
  if (!found) {
    sends.push_back(message);
  } else {
    receives.erase(other);
    match(*message);
  }
  return message;
}

SimMessagePtr SimRun::receive(SimLane& lane, int from, Tag tag, std::span<std::byte> room) {
  check();
  LOCKSTEP_CHECK(from >= kAnyRank && from < ranks_, "rank {} receives from rank {} of {}",
                 lane.rank, from, ranks_);
  auto& [sends, receives] = box(lane.rank, tag);
  const auto other = std::find_if(sends.begin(), sends.end(), [&](const SimMessagePtr& waits) {
    return fits(from, waits->from);
  });
  const bool found = other != sends.end();
  const SimMessagePtr message = found ? *other : std::make_shared<SimMessage>();
  if (!found) message->from = from;
  message->to = lane.rank;
  message->tag = tag;
  message->room = room;
  message->receiver = &lane;
  if (!found) {
    receives.push_back(message);
  } else {
    sends.erase(other);
    match(*message);
  }
  return message;
}

void SimRun::match(SimMessage& message) {
  if (message.data.size() > message.room.size()) {
    fail(fmt::format(
        "rank {} got {} bytes from rank {} under tag {}, but its buffer holds {}: the "
        "ranks are not in the same operation, or disagree about its size",
        message.to, message.data.size(), message.from, message.tag, message.room.size()));
    check();
  }
  if (!message.data.empty()) {
    std::memmove(message.room.data(), message.data.data(), message.data.size());
  }
  s4u::Host* from = platform_.host(host_of(message.from));
  s4u::Host* to = platform_.host(host_of(message.to));
  simcall([&] { message.comm = s4u::Comm::sendto_async(from, to, message.data.size()); });
  for (SimLane* lane : {message.sender, message.receiver}) {
    if (lane->awaits == &message) wake(*lane);
  }
}

void SimRun::wait(SimLane& lane, SimMessage& message) {
  check();
  if (message.arrived) return;
  const bool sending = message.sender == &lane;
  lane.peer = sending ? message.to : message.from;
  lane.what = sending ? "send" : "receive";
  lane.since = now();
  lane.line->wait(lane.peer, lane.what, lane.since);
  lane.waiting = true;
  wake(watchdog_);
  lane.awaits = &message;
  while (!message.comm && !board_.failed()) sleep(lane);
  lane.awaits = nullptr;
  if (message.comm && !board_.failed()) {
    simcall([&] { message.comm->wait(); });
    message.arrived = true;
  }
  lane.waiting = false;
  lane.line->resume();
  check();
}

bool SimRun::test(SimMessage& message) {
  check();
  if (!message.arrived && message.comm) {
    simcall([&] { message.arrived = message.comm->test(); });
  }
  return message.arrived;
}

void SimRun::withdraw(const SimMessagePtr& message) {
  if (message->comm) {
    if (!message->arrived) abandoned_.push_back(message->comm);
    return;
  }
  auto& [sends, receives] = box(message->to, message->tag);
  std::erase(sends, message);
  std::erase(receives, message);
}

}  // namespace lockstep
