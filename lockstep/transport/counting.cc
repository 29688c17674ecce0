#include "lockstep/transport/counting.h"

namespace lockstep {

Request CountingTransport::isend(int to, Tag tag, std::span<const std::byte> data) {
  ++counts_.messages;
  counts_.bytes += data.size();
  return inner_.isend(to, tag, data);
}

void CountingTransport::begin_operation(const char* name) {
  seen_.clear();
  inner_.begin_operation(name);
}

void CountingTransport::step(const char* phase, int index, int count) {
  if (seen_.emplace(phase, index).second) ++counts_.rounds;
  inner_.step(phase, index, count);
}

}  // namespace lockstep
