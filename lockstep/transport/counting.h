// A transport that counts what goes through it. A round is a step that the algorithm announced;
// pieces of one long message belong to the same round.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "lockstep/transport/forwarding.h"

namespace lockstep {

struct Counts {
  std::uint64_t messages = 0;  // sent by this rank
  std::uint64_t bytes = 0;     // sent by this rank
  std::uint64_t rounds = 0;
};

class CountingTransport : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  const Counts& counts() const { return counts_; }
  void reset() { counts_ = {}; }

  Request isend(int to, Tag tag, std::span<const std::byte> data) override;
  void begin_operation(const char* name) override;
  void step(const char* phase, int index, int count) override;

 private:
  Counts counts_;
  std::set<std::pair<std::string, int>> seen_;  // steps of the operation under way
};

}  // namespace lockstep
