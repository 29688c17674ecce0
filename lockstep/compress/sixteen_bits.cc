#include "lockstep/compress/sixteen_bits.h"

#include <algorithm>

#include "lockstep/base/half.h"

namespace lockstep {

void SixteenBits::encode(std::span<const float> values, const Moment&, Bytes& out) {
  std::byte* to = out.extend(2 * size());
  constexpr std::size_t kBlock = 2048;
  alignas(64) std::uint16_t block[kBlock];  // a message need not be aligned
  std::uint32_t largest = 0;
  for (const Range& run : runs()) {
    for (std::size_t at = 0; at < run.size; at += kBlock) {
      const std::size_t count = std::min(kBlock, run.size - at);
      largest = std::max(largest, narrow(number_, values.data() + run.begin + at, count, block));
      std::memcpy(to, block, 2 * count);
      to += 2 * count;
    }
  }
  check_finite(largest, values);
}

void SixteenBits::add(BytesView message, float scale, std::span<float> sum) const {
  BytesReader reader(message);
  constexpr std::size_t kBlock = 2048;
  alignas(64) std::uint16_t block[kBlock];
  for (const Range& run : runs()) {
    for (std::size_t at = 0; at < run.size; at += kBlock) {
      const std::size_t count = std::min(kBlock, run.size - at);
      std::memcpy(block, reader.take(2 * count).data(), 2 * count);
      add_widened(number_, block, count, scale, sum.data() + run.begin + at);
    }
  }
  reader.end();
}

void SixteenBits::round_off(float* values, std::size_t n) const {
  round_values(number_, values, n);
}

}  // namespace lockstep
