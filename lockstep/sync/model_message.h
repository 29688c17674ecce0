// A worker's model as it travels to another worker: parameters, running statistics behind them, and
// a few words about them, in one piece.
#pragma once

#include <span>

#include "lockstep/base/aligned.h"
#include "lockstep/model/replica.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

class ModelMessage {
 public:
  // A ConfigError if such a model does not fit into a message.
  explicit ModelMessage(Replica& replica);

  // Writes the replica's model; `now` is when.
  std::span<const std::byte> write(Replica& replica, double weight, double now);
  // The room for a message to arrive in.
  std::span<std::byte> room() { return memory_; }
  // What has arrived. A CommError unless it is a model of this size.
  void check(const Request& arrived) const;

  double weight() const { return word(0); }
  double sent_at() const { return word(1); }
  std::span<const float> params() const { return floats().first(params_); }
  std::span<const float> buffers() const { return floats().subspan(params_); }
  std::size_t size() const { return memory_.size(); }  // bytes

 private:
  double word(std::size_t index) const;
  std::span<const float> floats() const;

  std::size_t params_;
  AlignedVector<std::byte> memory_;
};

}  // namespace lockstep
