// A worker's model as it travels to another worker: a few words about it, running statistics, and
// the parameters, or what [compress] makes of them, in one piece.
#pragma once

#include <span>

#include "lockstep/base/aligned.h"
#include "lockstep/model/replica.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

class ModelMessage {
 public:
  struct About {
    double weight = 1;
    double now = 0;    // when it was sent
    double error = 0;  // squared distance of what arrives from what the sender has
  };

  // A ConfigError if such a model does not fit into a message.
  ModelMessage(Replica& replica, bool compressed);

  // Writes the replica's model, or its statistics and these bytes.
  std::span<const std::byte> write(Replica& replica, const About& about);
  std::span<const std::byte> write(Replica& replica, const About& about,
                                   std::span<const std::byte> compressed);
  // The room for a message to arrive in.
  std::span<std::byte> room() { return memory_; }
  // What has arrived. A CommError unless it is a model of this size.
  void read(const Request& arrived);

  const About& about() const { return about_; }
  std::span<const float> buffers() const { return floats(0, buffers_); }
  std::span<const float> params() const { return floats(buffers_, params_); }
  std::span<const std::byte> compressed() const;
  std::size_t size() const { return size_; }  // bytes of the one written or read last

 private:
  std::byte* write_head(Replica& replica, const About& about);
  std::span<const std::byte> write_behind(std::byte* head, std::span<const std::byte> bytes);
  std::span<const float> floats(std::size_t first, std::size_t count) const;

  std::size_t params_, buffers_;
  bool is_compressed_;
  AlignedVector<std::byte> memory_;
  std::size_t size_ = 0;
  About about_;
};

}  // namespace lockstep
