// Consecutive ranks of a world seen as a world of their own: the ranks that hold the same part of a
// model train as if there were no others. Errors and reports still name ranks of the whole world.
#pragma once

#include "lockstep/transport/forwarding.h"

namespace lockstep {

class SubTransport : public ForwardingTransport {
 public:
  // Of `whole`, the ranks first … first + size − 1, its own among them.
  SubTransport(Transport& whole, int first, int size);

  int rank() const override { return inner_.rank() - first_; }
  int size() const override { return size_; }
  int host_of(int rank) const override { return inner_.host_of(rank + first_); }

  Request isend(int to, Tag tag, std::span<const std::byte> data) override;
  Request irecv(int from, Tag tag, std::span<std::byte> buffer) override;
  void wait(Request& request) override;
  bool test(Request& request) override;
  void read(int from, Tag tag, std::size_t bytes, std::size_t piece, const Visit& visit) override {
    inner_.read(from + first_, tag, bytes, piece, visit);
  }
  Task spawn(std::function<void(Transport&)> body) override;  // it sees the same ranks
  std::shared_ptr<SharedSpace> shared_space(std::span<const int> ranks) override;

 private:
  // A message's peer, a rank of the whole world while it is under way, becomes one of this.
  void renumber(Request& request) const;

  int first_, size_;
};

}  // namespace lockstep
