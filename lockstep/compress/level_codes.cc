#include "lockstep/compress/level_codes.h"

#include "lockstep/compress/kernels.h"

namespace lockstep {

LevelCodes::LevelCodes(int levels) : s_(levels) {
  for (int level = 1; level <= levels; ++level) {
    const Code size = gamma_code(static_cast<std::uint32_t>(level));
    codes_[static_cast<std::size_t>(level)] = Code{0, 1}.then(size);
    codes_[static_cast<std::size_t>(256 - level)] = Code{1, 1}.then(size);
  }
  fill_shorts();
}

void LevelCodes::fill_shorts() {
  shorts_.assign(kShorts, {});
  for (std::uint32_t gap = 1; gamma_code(gap).bits < kShortBits; ++gap) {
    for (int level = -s_; level <= s_; ++level) {
      if (level == 0) continue;
      const Code code = gamma_code(gap).then(codes_[static_cast<std::uint8_t>(level)]);
      if (code.bits > kShortBits) continue;
      for (std::size_t behind = 0; behind < kShorts >> code.bits; ++behind) {
        shorts_[code.value | behind << code.bits] = {static_cast<std::uint16_t>(gap),
                                                     static_cast<std::int8_t>(level),
                                                     static_cast<std::uint8_t>(code.bits)};
      }
    }
  }
}

bool LevelCodes::put(std::span<const std::int8_t> levels, std::size_t most, Bytes& out) {
  places_.resize(levels.size());
  const std::size_t count =
      compress_kernels().find_nonzero(levels.data(), levels.size(), places_.data());
  if (3 * count >= 8 * most) return false;  // 3 bits each at least: mostly settles it
  const std::size_t begin = out.size();
  put_varint(out, count);
  constexpr std::size_t kCodes = 64 * 16;  // bytes of so many, and what a writer writes more
  const std::size_t coded = out.size();
  const std::byte* const full = out.extend(most + kCodes) + most;
  BitWriter writer(out.at(coded));
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t place = places_[i], gap = place + 1 - next;
    const Code level = codes_[static_cast<std::uint8_t>(levels[place])];
    if (gap < (1u << 16)) {
      writer.put(gamma_code(gap).then(level));
    } else {
      const Code code = gamma_code(gap);  // more bits than the writer takes at once
      writer.put({code.value & 0xffffffff, 32});
      writer.put({code.value >> 32, code.bits - 32});
      writer.put(level);
    }
    next = place + 1;
    if (i % 64 == 63 && writer.end() > full) break;
  }
  if (writer.end() > full) {
    out.shrink(begin);
    return false;
  }
  out.shrink(static_cast<std::size_t>(writer.end() - out.at(0)));
  return true;
}

LevelCodes::Next LevelCodes::get_long(BitReader& reader) const {
  const std::uint32_t gap = reader.get_gamma();
  const bool negative = reader.get(1) != 0;
  const std::uint32_t size = reader.get_gamma();
  if (size > static_cast<std::uint32_t>(s_)) {
    throw CommError("a compressed message has level {} of {}", size, s_);
  }
  return {gap, negative ? -static_cast<int>(size) : static_cast<int>(size)};
}

}  // namespace lockstep
