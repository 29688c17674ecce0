#include "lockstep/server/message.h"

#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/transport/transport.h"

namespace lockstep {
namespace {

constexpr std::size_t kHeader = 128;  // floats behind it start on a cache line
static_assert(sizeof(ServerHeader) <= kHeader);

std::size_t bytes_for(std::size_t values) {
  if (values > (kMessageLimit - kHeader) / sizeof(float)) {
    throw ConfigError(
        "a server shard of {} parameters does not fit into a message; more shards "
        "([aggregate] servers, or more workers) make them smaller",
        values);
  }
  return kHeader + values * sizeof(float);
}

}  // namespace

ServerMessage::ServerMessage(std::size_t most_values) : memory_(bytes_for(most_values)) {}

std::span<const std::byte> ServerMessage::write(ServerHeader header,
                                                std::span<const float> values) {
  const std::size_t bytes = kHeader + values.size_bytes();
  LOCKSTEP_CHECK(bytes <= memory_.size(), "{} bytes in a message of {}", bytes, memory_.size());
  header.values = values.size();
  std::memcpy(memory_.data(), &header, sizeof header);
  if (!values.empty()) std::memcpy(memory_.data() + kHeader, values.data(), values.size_bytes());
  return std::span(memory_).first(bytes);
}

const ServerHeader& ServerMessage::read(std::size_t bytes) {
  if (bytes >= kHeader) std::memcpy(&header_, memory_.data(), sizeof header_);
  if (bytes < kHeader || header_.values > (bytes - kHeader) / sizeof(float) ||
      kHeader + header_.values * sizeof(float) != bytes) {
    throw CommError("a server message of {} bytes does not have the length it says", bytes);
  }
  return header_;
}

std::span<const float> ServerMessage::values() const {
  return {reinterpret_cast<const float*>(memory_.data() + kHeader), header_.values};
}

}  // namespace lockstep
