// Messages between MPI processes. Nothing here blocks inside MPI: a wait is a loop of MPI_Test, so
// that it can let others run, notice that another rank has failed, and give up in time.
#pragma once

#include <vector>

#include "lockstep/transport/mpi_run.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

class MpiTransport : public Transport {
 public:
  // Lane 0 is the rank itself, the others are its companions.
  MpiTransport(MpiRun& run, int lane);

  int rank() const override { return run_.rank(); }
  int size() const override { return run_.ranks(); }
  int host_of(int rank) const override { return run_.session().host_of(rank); }

  Request isend(int to, Tag tag, std::span<const std::byte> data) override;
  Request irecv(int from, Tag tag, std::span<std::byte> buffer) override;
  void wait(Request& request) override;
  bool test(Request& request) override;

  double now() const override { return wall_seconds() + run_.session().clock_offset(); }
  void charge(double) override {}
  void pause(double seconds) override { waiter_.pause(seconds); }
  std::size_t piece_bytes() const override;

  Task spawn(std::function<void(Transport&)> body) override;
  std::shared_ptr<SharedSpace> shared_space(std::span<const int> ranks) override;

  void begin_operation(const char* name) override { waiter_.line().begin(name); }
  void step(const char* phase, int index, int count) override {
    waiter_.line().step(phase, index, count);
  }
  void end_operation() override { waiter_.line().end(wall_seconds()); }

  MPI_Comm comm() const { return run_.comm(); }

 private:
  class Message;

  Request send_on(MPI_Comm comm, int to, Tag tag, std::span<const std::byte> data);
  Request receive_on(MPI_Comm comm, int from, Tag tag, std::span<std::byte> buffer);
  bool arrived(Message& message);

  MpiRun& run_;
  int lane_;
  Waiter waiter_;
  unsigned tests_ = 0;
};

}  // namespace lockstep
