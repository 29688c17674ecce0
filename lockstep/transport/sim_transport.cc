#include "lockstep/transport/sim_transport.h"

#include <cmath>
#include <exception>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/transport/sim_simcall.h"

namespace lockstep {
namespace {

constexpr double kLook = 1e-6;  // seconds that a look in vain takes

class SimTransfer : public Transfer {
 public:
  SimTransfer(SimRun& run, SimMessagePtr message, int with, std::size_t count)
      : Transfer(with, message->tag, count), run_(run), message_(std::move(message)) {}
  ~SimTransfer() override {
    if (!complete) run_.withdraw(message_);
  }

  SimMessage& message() { return *message_; }
  void settle() {
    if (peer == kAnyRank) peer = message_->from;
    bytes = message_->data.size();
    complete = true;
    message_.reset();  // a request may outlive the run
  }

 private:
  SimRun& run_;
  SimMessagePtr message_;
};

class SimCompanion : public Companion {
 public:
  // What the companion's actor leaves behind when it ends.
  struct End {
    bool done = false;
    SimLane* joins = nullptr;
  };

  SimCompanion(SimRun& run, SimLane& lane, std::shared_ptr<End> end)
      : run_(run), lane_(lane), end_(std::move(end)), exceptions_(std::uncaught_exceptions()) {}
  ~SimCompanion() override {
    // When the rank itself is failing, the companion must not wait for it for ever.
    if (std::uncaught_exceptions() > exceptions_) run_.abandon(lane_);
    rest();
  }

  void join() override {
    rest();
    run_.check();
  }

 private:
  // A failed run does not end this early: the companion still uses its maker's variables.
  void rest() {
    end_->joins = &lane_;
    while (!end_->done) run_.sleep(lane_);
    end_->joins = nullptr;
  }

  SimRun& run_;
  SimLane& lane_;
  std::shared_ptr<End> end_;
  int exceptions_;
};

}  // namespace

int SimTransport::host_of(int rank) const {
  return run_.cluster().machine_of_host(run_.host_of(rank));
}

Request SimTransport::isend(int to, Tag tag, std::span<const std::byte> data) {
  return Request(
      std::make_unique<SimTransfer>(run_, run_.send(lane_, to, tag, data), to, data.size()));
}

Request SimTransport::irecv(int from, Tag tag, std::span<std::byte> buffer) {
  return Request(
      std::make_unique<SimTransfer>(run_, run_.receive(lane_, from, tag, buffer), from, 0));
}

void SimTransport::wait(Request& request) {
  if (!request.active()) return;
  auto& transfer = static_cast<SimTransfer&>(*request.transfer());
  run_.wait(lane_, transfer.message());
  transfer.settle();
}

bool SimTransport::test(Request& request) {
  if (!request.active()) return true;
  auto& transfer = static_cast<SimTransfer&>(*request.transfer());
  if (!run_.test(transfer.message())) {
    simcall([] { simgrid::s4u::this_actor::sleep_for(kLook); });
    if (!run_.test(transfer.message())) {
      run_.asked_in_vain(lane_, transfer);
      return false;
    }
  }
  transfer.settle();
  return true;
}

void SimTransport::charge(double seconds) {
  run_.check();
  LOCKSTEP_CHECK(seconds >= 0 && std::isfinite(seconds), "{} seconds charged", seconds);
  const ClusterDescription& cluster = run_.cluster();
  const auto& stragglers = cluster.stragglers;
  double factor = cluster.slowdown(run_.host_of(rank())) / cluster.speed;
  const std::uint64_t call = run_.next_charge(rank());
  if (stragglers.probability > 0) {
    Random random(stragglers.seed, "straggler", static_cast<std::uint64_t>(rank()), call);
    if (random.uniform() < stragglers.probability) factor *= stragglers.factor;
  }
  pause(seconds * factor);
}

void SimTransport::pause(double seconds) {
  if (seconds > 0) simcall([&] { simgrid::s4u::this_actor::sleep_for(seconds); });
  run_.check();
}

Task SimTransport::spawn(std::function<void(Transport&)> body) {
  run_.check();
  auto end = std::make_shared<SimCompanion::End>();
  run_.start(rank(), run_.next_lane(rank()), std::move(body), [&run = run_, end] {
    end->done = true;
    if (end->joins != nullptr) run.wake(*end->joins);
  });
  return std::make_unique<SimCompanion>(run_, lane_, std::move(end));
}

}  // namespace lockstep
