// A transport that hands everything on to another one: the base of decorators, which override what
// they want to see.
#pragma once

#include <utility>

#include "lockstep/transport/transport.h"

namespace lockstep {

class ForwardingTransport : public Transport {
 public:
  explicit ForwardingTransport(Transport& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  int host_of(int rank) const override { return inner_.host_of(rank); }
  Request isend(int to, Tag tag, std::span<const std::byte> data) override {
    return inner_.isend(to, tag, data);
  }
  Request irecv(int from, Tag tag, std::span<std::byte> buffer) override {
    return inner_.irecv(from, tag, buffer);
  }
  void wait(Request& request) override { inner_.wait(request); }
  bool test(Request& request) override { return inner_.test(request); }
  void read(int from, Tag tag, std::size_t bytes, std::size_t piece, const Visit& visit) override {
    inner_.read(from, tag, bytes, piece, visit);
  }
  double now() const override { return inner_.now(); }
  bool simulated() const override { return inner_.simulated(); }
  void charge(double seconds) override { inner_.charge(seconds); }
  void pause(double seconds) override { inner_.pause(seconds); }
  std::size_t piece_bytes() const override { return inner_.piece_bytes(); }
  // A companion has a transport of its own, which is not decorated.
  Task spawn(std::function<void(Transport&)> body) override {
    return inner_.spawn(std::move(body));
  }
  std::shared_ptr<SharedSpace> shared_space(std::span<const int> ranks) override {
    return inner_.shared_space(ranks);
  }
  void begin_operation(const char* name) override { inner_.begin_operation(name); }
  void step(const char* phase, int index, int count) override { inner_.step(phase, index, count); }
  void end_operation() override { inner_.end_operation(); }

 protected:
  Transport& inner_;
};

// The same transport without shared memory: algorithms must send messages.
class MessagesOnly : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  std::shared_ptr<SharedSpace> shared_space(std::span<const int>) override { return nullptr; }
};

}  // namespace lockstep
