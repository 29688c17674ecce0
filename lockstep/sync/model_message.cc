#include "lockstep/sync/model_message.h"

#include <cstring>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr std::size_t kHeader = kAlignment;  // floats behind it start on a cache line

}  // namespace

ModelMessage::ModelMessage(Replica& replica, bool compressed)
    : params_(replica.params().size()),
      buffers_(replica.buffers().size()),
      is_compressed_(compressed) {
  static_assert(sizeof(About) <= kHeader);
  std::size_t bytes = kHeader + replica.params().size_bytes() + replica.buffers().size_bytes();
  if (compressed) bytes += replica.params().size_bytes() + 4096;  // if it fails to shorten them
  if (bytes > kMessageLimit) {
    throw ConfigError(
        "a model of {} parameters does not fit into one message, in which this [sync] sends it; "
        "use one that averages, such as \"synchronous\"",
        params_);
  }
  memory_.resize(bytes);
}

std::byte* ModelMessage::write_head(Replica& replica, const About& about) {
  std::memcpy(memory_.data(), &about, sizeof about);
  const auto buffers = replica.buffers();
  if (!buffers.empty()) std::memcpy(memory_.data() + kHeader, buffers.data(), buffers.size_bytes());
  return memory_.data() + kHeader + buffers.size_bytes();
}

std::span<const std::byte> ModelMessage::write(Replica& replica, const About& about) {
  const auto params = replica.params();
  return write_behind(write_head(replica, about), std::as_bytes(params));
}

std::span<const std::byte> ModelMessage::write(Replica& replica, const About& about,
                                               std::span<const std::byte> compressed) {
  return write_behind(write_head(replica, about), compressed);
}

std::span<const std::byte> ModelMessage::write_behind(std::byte* head,
                                                      std::span<const std::byte> bytes) {
  const auto begin = static_cast<std::size_t>(head - memory_.data());
  LOCKSTEP_CHECK(begin + bytes.size() <= memory_.size(), "a model in {} bytes", bytes.size());
  if (!bytes.empty()) std::memcpy(head, bytes.data(), bytes.size());
  size_ = begin + bytes.size();
  return std::span<const std::byte>(memory_).first(size_);
}

void ModelMessage::read(const Request& arrived) {
  size_ = arrived.bytes();
  const std::size_t head = kHeader + buffers_ * sizeof(float);
  const std::size_t plain = head + params_ * sizeof(float);
  if (size_ < head || (!is_compressed_ && size_ != plain)) {
    throw CommError("worker {} sent {} bytes instead of a model of {}", arrived.peer(), size_,
                    plain);
  }
  std::memcpy(&about_, memory_.data(), sizeof about_);
}

std::span<const std::byte> ModelMessage::compressed() const {
  return std::span<const std::byte>(memory_).first(size_).subspan(kHeader +
                                                                  buffers_ * sizeof(float));
}

std::span<const float> ModelMessage::floats(std::size_t first, std::size_t count) const {
  return {reinterpret_cast<const float*>(memory_.data() + kHeader) + first, count};
}

}  // namespace lockstep
