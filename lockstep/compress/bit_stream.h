// Numbers of any number of bits, one behind the other, and Elias' gamma code: a number x ≥ 1 of
// k + 1 bits takes k zeros, a one, and its lower k bits. Small numbers are short.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "lockstep/compress/bytes.h"

namespace lockstep {

// A number and how many bits it takes; of Elias codes and whatever stands beside them.
struct Code {
  std::uint64_t value = 0;
  int bits = 0;

  // With another one behind it; 64 bits at most together.
  constexpr Code then(Code next) const { return {value | next.value << bits, bits + next.bits}; }
};

constexpr Code gamma_code(std::uint32_t x) {
  const int k = std::bit_width(x) - 1;
  const std::uint64_t lower = x & ((std::uint64_t{1} << k) - 1);
  return {(std::uint64_t{1} << k) | lower << (k + 1), 2 * k + 1};
}

class BitWriter {
 public:
  // Writes from `to` on, up to 8 bytes more than it needs.
  explicit BitWriter(std::byte* to) : to_(to) {}

  // At most 56 bits.
  void put(Code code) {
    word_ |= code.value << used_;
    used_ += code.bits;
    std::memcpy(to_, &word_, sizeof word_);
    const int whole = used_ / 8;
    to_ += whole;
    word_ = whole == 8 ? 0 : word_ >> (8 * whole);
    used_ -= 8 * whole;
  }
  // Where the bytes end, the last one filled up with zeros.
  std::byte* end() const { return to_ + (used_ > 0 ? 1 : 0); }

 private:
  std::byte* to_;
  std::uint64_t word_ = 0;
  int used_ = 0;
};

class BitReader {
 public:
  explicit BitReader(BytesView bytes) : bytes_(bytes) {}

  // At most 32 bits at a time.
  std::uint32_t get(int bits) {
    fill();
    if (bits > have_) throw CommError("a compressed message ends within a number");
    const auto value = static_cast<std::uint32_t>(word_ & ((std::uint64_t{1} << bits) - 1));
    drop(bits);
    return value;
  }
  std::uint32_t get_gamma() {
    fill();
    // Mostly it is short and all of it is there.
    if (const int k = std::countr_zero(word_ | std::uint64_t{1} << 63); 2 * k + 1 <= have_) {
      const auto lower = word_ >> (k + 1) & ((std::uint64_t{1} << k) - 1);
      drop(2 * k + 1);
      return (std::uint32_t{1} << k) | static_cast<std::uint32_t>(lower);
    }
    const int k = word_ == 0 ? 64 : std::countr_zero(word_);
    if (k >= have_ || k > 31) {
      throw CommError("a compressed message holds no number where one is due");
    }
    drop(k + 1);
    return (std::uint32_t{1} << k) | get(k);
  }

  // The next 32 bits or more, zeros behind the end; skip() those that were used.
  std::uint64_t peek() {
    fill();
    return word_;
  }
  void skip(int bits) {
    if (bits > have_) throw CommError("a compressed message ends within a number");
    drop(bits);
  }

  // A CommError if whole bytes are left.
  void end() const {
    if (have_ >= 8 || at_ < bytes_.size()) {
      throw CommError("a compressed message has bytes behind its end");
    }
  }

 private:
  void fill() {
    if (have_ >= 32) return;
    if (bytes_.size() - at_ >= 8) {
      std::uint64_t next = 0;
      std::memcpy(&next, bytes_.data() + at_, sizeof next);
      word_ |= next << have_;
      const int more = (63 - have_) / 8;
      at_ += static_cast<std::size_t>(more);
      have_ += 8 * more;
      word_ &= (std::uint64_t{1} << have_) - 1;  // the rest comes again
      return;
    }
    for (; have_ <= 55 && at_ < bytes_.size(); have_ += 8) {
      word_ |= static_cast<std::uint64_t>(bytes_[at_++]) << have_;
    }
  }
  void drop(int bits) {
    word_ >>= bits;
    have_ -= bits;
  }

  BytesView bytes_;
  std::size_t at_ = 0;
  std::uint64_t word_ = 0;
  int have_ = 0;  // bits in word_, fewer than 64
};

}  // namespace lockstep
