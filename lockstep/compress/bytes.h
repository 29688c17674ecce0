// The bytes of a compressed message: written without zeroing them first, read with every access
// checked, as they may come from anybody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "lockstep/base/error.h"

namespace lockstep {

using BytesView = std::span<const std::byte>;

class Bytes {
 public:
  std::size_t size() const { return size_; }
  BytesView view() const { return {memory_.get(), size_}; }
  void clear() { size_ = 0; }
  void shrink(std::size_t size) { size_ = size; }  // to at most what it is

  // Room for `count` more bytes, to be filled. Earlier pointers are not valid any more.
  std::byte* extend(std::size_t count);
  // The byte at a place that was extended before.
  std::byte* at(std::size_t offset) { return memory_.get() + offset; }

  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(extend(sizeof value), &value, sizeof value);
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::size_t size_ = 0, room_ = 0;
};

class BytesReader {
 public:
  explicit BytesReader(BytesView bytes) : bytes_(bytes) {}

  std::size_t left() const { return bytes_.size(); }
  BytesView take(std::size_t count) {
    if (count > bytes_.size()) too_short(count);
    const BytesView taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  // A CommError unless all has been read.
  void end() const;

 private:
  [[noreturn]] void too_short(std::size_t count) const;
  BytesView bytes_;
};

// Whole numbers, short ones in few bytes: 7 bits a byte, the highest bit says that more follow.
void put_varint(Bytes& bytes, std::uint64_t value);
inline std::byte* write_varint(std::byte* to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<std::byte>(value | 0x80);
  *to++ = static_cast<std::byte>(value);
  return to;
}
inline constexpr std::size_t kLongestVarint = 10;
std::uint64_t get_varint(BytesReader& reader);

}  // namespace lockstep
