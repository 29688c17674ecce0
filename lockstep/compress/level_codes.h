// Levels between −s and s, most of them 0, in few bits: of each that is not, Elias' code of its gap
// from the one before, its sign, and Elias' code of its size.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/compress/bit_stream.h"

namespace lockstep {

class LevelCodes {
 public:
  explicit LevelCodes(int levels);

  // Appends how many there are and their codes, unless that takes more than `most` bytes: then
  // `out` is as before.
  bool put(std::span<const std::int8_t> levels, std::size_t most, Bytes& out);

  struct Next {
    std::uint32_t gap = 0;
    int level = 0;
  };
  Next get(BitReader& reader) const {
    // Mostly all of it is within a few bits, and a table says what they mean.
    const Short& code = shorts_[reader.peek() % kShorts];
    if (code.bits == 0) return get_long(reader);
    reader.skip(code.bits);
    return {code.gap, code.level};
  }

 private:
  static constexpr int kShortBits = 12;
  static constexpr std::size_t kShorts = std::size_t{1} << kShortBits;
  struct Short {
    std::uint16_t gap = 0;
    std::int8_t level = 0;
    std::uint8_t bits = 0;  // 0: it is longer, or no code
  };

  void fill_shorts();
  Next get_long(BitReader& reader) const;

  int s_;
  std::array<Code, 256> codes_{};  // by a level's byte: its sign and size
  std::vector<Short> shorts_;      // by the next bits
  std::vector<std::uint32_t> places_;
};

}  // namespace lockstep
