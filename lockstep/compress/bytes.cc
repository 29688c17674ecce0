#include "lockstep/compress/bytes.h"

#include <algorithm>
#include <new>

#include "lockstep/base/aligned.h"

namespace lockstep {

void Bytes::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t(kAlignment));
}

std::byte* Bytes::extend(std::size_t count) {
  if (count > room_ - size_) {
    const std::size_t room = std::max(size_ + count, room_ + room_ / 2);
    std::unique_ptr<std::byte[], Free> larger(
        static_cast<std::byte*>(::operator new[](room, std::align_val_t(kAlignment))));
    if (size_ > 0) std::memcpy(larger.get(), memory_.get(), size_);
    memory_ = std::move(larger);
    room_ = room;
  }
  size_ += count;
  return memory_.get() + (size_ - count);
}

void BytesReader::too_short(std::size_t count) const {
  throw CommError("a compressed message ends where {} more bytes should be, {} are left", count,
                  bytes_.size());
}

void BytesReader::end() const {
  if (!bytes_.empty()) {
    throw CommError("a compressed message has {} bytes behind its end", bytes_.size());
  }
}

void put_varint(Bytes& bytes, std::uint64_t value) {
  std::byte* const begin = bytes.extend(kLongestVarint);
  const auto used = static_cast<std::size_t>(write_varint(begin, value) - begin);
  bytes.shrink(bytes.size() - (kLongestVarint - used));
}

std::uint64_t get_varint(BytesReader& reader) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = reader.get<std::uint8_t>();
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (shift == 63 && byte > 1) break;
      return value;
    }
  }
  throw CommError("a compressed message holds a number of more than 64 bits");
}

}  // namespace lockstep
