// A rank's door to the others in a simulation: waiting and computing take time on the virtual
// clock, and the payloads are really delivered.
#pragma once

#include "lockstep/transport/sim_run.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

class SimTransport : public Transport {
 public:
  SimTransport(SimRun& run, SimLane& lane) : run_(run), lane_(lane) {}

  int rank() const override { return lane_.rank; }
  int size() const override { return run_.ranks(); }
  int host_of(int rank) const override;

  Request isend(int to, Tag tag, std::span<const std::byte> data) override;
  Request irecv(int from, Tag tag, std::span<std::byte> buffer) override;
  void wait(Request& request) override;
  // Looking in vain takes a microsecond of simulated time: a loop that only looks would otherwise
  // stop the clock, and what it looks for would never come.
  bool test(Request& request) override;

  double now() const override { return run_.now(); }
  bool simulated() const override { return true; }
  void charge(double seconds) override;
  void pause(double seconds) override;
  std::size_t piece_bytes() const override { return std::size_t{1} << 20; }
  Task spawn(std::function<void(Transport&)> body) override;
  std::shared_ptr<SharedSpace> shared_space(std::span<const int>) override { return nullptr; }

  void begin_operation(const char* name) override { lane_.line->begin(name); }
  void step(const char* phase, int index, int count) override {
    lane_.line->step(phase, index, count);
  }
  void end_operation() override { lane_.line->end(now()); }

 private:
  SimRun& run_;
  SimLane& lane_;
};

}  // namespace lockstep
