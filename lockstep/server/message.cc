#include "lockstep/server/message.h"

#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/transport/transport.h"

namespace lockstep {
namespace {

constexpr std::size_t kHeader = 128;  // floats behind it start on a cache line
static_assert(sizeof(ServerHeader) <= kHeader);

// Compressed, it has room for twice as much and a little more.
std::size_t bytes_for(std::size_t values, bool compressed) {
  const std::size_t width = compressed ? 2 * sizeof(float) : sizeof(float);
  const std::size_t more = compressed ? 4096 : 0;
  if (values > (kMessageLimit - kHeader - more) / width) {
    throw ConfigError(
        "a server shard of {} parameters does not fit into a message; more shards "
        "([aggregate] servers, or more workers) make them smaller",
        values);
  }
  return kHeader + more + values * width;
}

}  // namespace

ServerMessage::ServerMessage(std::size_t most_values, bool compressed)
    : memory_(bytes_for(most_values, compressed)) {}

std::span<const std::byte> ServerMessage::write(ServerHeader header,
                                                std::span<const float> values) {
  header.form = Form::kPlain;
  header.values = values.size();
  return put(header, std::as_bytes(values));
}

std::span<const std::byte> ServerMessage::write_bytes(ServerHeader header,
                                                      std::span<const std::byte> bytes) {
  header.values = bytes.size();
  return put(header, bytes);
}

std::span<const std::byte> ServerMessage::put(const ServerHeader& header,
                                              std::span<const std::byte> content) {
  const std::size_t bytes = kHeader + content.size();
  LOCKSTEP_CHECK(bytes <= memory_.size(), "{} bytes in a message of {}", bytes, memory_.size());
  std::memcpy(memory_.data(), &header, sizeof header);
  if (!content.empty()) std::memcpy(memory_.data() + kHeader, content.data(), content.size());
  return std::span(memory_).first(bytes);
}

const ServerHeader& ServerMessage::read(std::size_t bytes) {
  if (bytes >= kHeader) std::memcpy(&header_, memory_.data(), sizeof header_);
  const std::size_t width = header_.form == Form::kPlain ? sizeof(float) : 1;
  if (bytes < kHeader || header_.form > Form::kDifference ||
      header_.values > (bytes - kHeader) / width || kHeader + header_.values * width != bytes) {
    throw CommError("a server message of {} bytes does not have the length it says", bytes);
  }
  return header_;
}

std::span<const float> ServerMessage::values() const {
  if (header_.form != Form::kPlain) return {};
  return {reinterpret_cast<const float*>(memory_.data() + kHeader), header_.values};
}

std::span<const std::byte> ServerMessage::bytes() const {
  if (header_.form == Form::kPlain) return {};
  return {memory_.data() + kHeader, header_.values};
}

}  // namespace lockstep
