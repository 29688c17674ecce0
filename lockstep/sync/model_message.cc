#include "lockstep/sync/model_message.h"

#include <cstring>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr std::size_t kHeader = kAlignment;  // floats behind it start on a cache line

}  // namespace

ModelMessage::ModelMessage(Replica& replica) : params_(replica.params().size()) {
  const std::size_t bytes =
      kHeader + replica.params().size_bytes() + replica.buffers().size_bytes();
  if (bytes > kMessageLimit) {
    throw ConfigError(
        "a model of {} parameters does not fit into one message, in which this [sync] sends it; "
        "use one that averages, such as \"synchronous\"",
        params_);
  }
  memory_.resize(bytes);
}

std::span<const std::byte> ModelMessage::write(Replica& replica, double weight, double now) {
  const double words[] = {weight, now};
  std::memcpy(memory_.data(), words, sizeof words);
  std::byte* to = memory_.data() + kHeader;
  for (const auto values : {replica.params(), replica.buffers()}) {
    if (!values.empty()) std::memcpy(to, values.data(), values.size_bytes());
    to += values.size_bytes();
  }
  return memory_;
}

void ModelMessage::check(const Request& arrived) const {
  if (arrived.bytes() == memory_.size()) return;
  throw CommError("worker {} sent {} bytes instead of a model of {}", arrived.peer(),
                  arrived.bytes(), memory_.size());
}

double ModelMessage::word(std::size_t index) const {
  double value = 0;
  std::memcpy(&value, memory_.data() + index * sizeof value, sizeof value);
  return value;
}

std::span<const float> ModelMessage::floats() const {
  return {reinterpret_cast<const float*>(memory_.data() + kHeader),
          (memory_.size() - kHeader) / sizeof(float)};
}

}  // namespace lockstep
