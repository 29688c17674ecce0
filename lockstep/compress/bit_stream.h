// Numbers of any number of bits, one behind the other, and Elias' gamma code: a number x ≥ 1 of
// k + 1 bits takes k zeros, a one, and its lower k bits. Small numbers are short.
#pragma once

#include <bit>
#include <cstdint>

#include "lockstep/compress/bytes.h"

namespace lockstep {

constexpr int gamma_bits(std::uint64_t x) {
  return 2 * std::bit_width(x) - 1;
}

class BitWriter {
 public:
  explicit BitWriter(Bytes& out) : out_(out) {}

  // At most 32 bits at a time.
  void put(std::uint64_t value, int bits) {
    word_ |= value << used_;
    used_ += bits;
    if (used_ >= 32) {
      out_.put(static_cast<std::uint32_t>(word_));
      word_ >>= 32;
      used_ -= 32;
    }
  }
  void put_gamma(std::uint32_t x) {
    const int k = std::bit_width(x) - 1;
    put(std::uint64_t{1} << k, k + 1);
    put(x & ((std::uint64_t{1} << k) - 1), k);
  }
  // Fills the last byte with zeros.
  void end() {
    for (; used_ > 0; used_ -= 8, word_ >>= 8) out_.put(static_cast<std::uint8_t>(word_));
    used_ = 0;
    word_ = 0;
  }

 private:
  Bytes& out_;
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
    const int k = word_ == 0 ? 64 : std::countr_zero(word_);
    if (k >= have_ || k > 31) throw CommError("a compressed message holds no number where one is due");
    drop(k + 1);
    return (std::uint32_t{1} << k) | get(k);
  }

 private:
  void fill() {
    for (; have_ <= 56 && at_ < bytes_.size(); have_ += 8) {
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
  int have_ = 0;  // bits in word_
};

}  // namespace lockstep
