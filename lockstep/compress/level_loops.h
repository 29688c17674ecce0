// Values rounded at random to levels, and levels in few bits; a part of kernel_loops.h.
#pragma once

#include "lockstep/compress/vector_loops.h"

namespace lockstep {
namespace {

// A number in [0, 1) by key and place: a bijective mixing of 32 bits (constants of Wellons'
// "lowbias32"), much faster than a cipher and as good where only averages count.
inline Floats uniform(Words place, std::uint64_t key) {
  Words x = place + static_cast<std::uint32_t>(key);
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= (x >> 15) ^ static_cast<std::uint32_t>(key >> 32);
  x *= 0x846ca68bu;
  x ^= x >> 16;
  return __builtin_convertvector(std::bit_cast<Ints>(x >> 8), Floats) * 0x1p-24f;
}

void quantise(const float* values, std::size_t n, float norm, int s, std::uint64_t key,
              std::int8_t* levels) {
  const Words first{0, 1, 2, 3, 4, 5, 6, 7};
  const auto steps = static_cast<float>(s);
  typedef std::int8_t Levels __attribute__((vector_size(8)));
  const auto take = [&](std::size_t at, Floats value) {
    const Words bits = std::bit_cast<Words>(value);
    Floats size = std::bit_cast<Floats>(bits & kMagnitude) / norm * steps;
    size = size <= steps ? size : Floats{} + steps;  // what is not finite is refused later
    const Floats u = uniform(first + static_cast<std::uint32_t>(at), key);
    Ints level = __builtin_convertvector(size + u, Ints);  // towards 0, which is down
    level = level > s ? Ints{} + s : level;
    const Ints negative = std::bit_cast<Ints>(bits) >> 31;  // 0 or −1
    return __builtin_convertvector((level ^ negative) - negative, Levels);
  };
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Levels eight = take(i, load<Floats>(values + i));
    std::memcpy(levels + i, &eight, sizeof eight);
  }
  const Levels rest = take(i, load_some(values + i, n - i));
  std::memcpy(levels + i, &rest, n - i);
}

std::size_t find_nonzero(const std::int8_t* levels, std::size_t n, std::uint32_t* places) {
  std::size_t count = 0, i = 0;
#if defined(__AVX2__)
  for (; i + 32 <= n; i += 32) {
    const __m256i zeros = _mm256_cmpeq_epi8(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(levels + i)), _mm256_setzero_si256());
    auto found = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(zeros));
    for (; found != 0; found &= found - 1) {
      places[count++] =
          static_cast<std::uint32_t>(i) + static_cast<std::uint32_t>(std::countr_zero(found));
    }
  }
#endif
  for (; i < n; ++i) {
    places[count] = static_cast<std::uint32_t>(i);
    count += levels[i] != 0;
  }
  return count;
}

#if !defined(__BMI2__)
// The lowest `bits` bits of each of eight bytes put together, and the way back.
inline std::uint64_t squeeze(std::uint64_t codes, int bits) {
  std::uint64_t packed = 0;
  for (int i = 0; i < 8; ++i) packed |= (codes >> (8 * i) & 0xff) << (bits * i);
  return packed;
}
inline std::uint64_t spread(std::uint64_t packed, int bits) {
  std::uint64_t codes = 0;
  const std::uint64_t mask = (1u << bits) - 1;
  for (int i = 0; i < 8; ++i) codes |= (packed >> (bits * i) & mask) << (8 * i);
  return codes;
}
#else
inline std::uint64_t byte_mask(int bits) {
  return ((std::uint64_t{1} << bits) - 1) * 0x0101010101010101u;
}
inline std::uint64_t squeeze(std::uint64_t codes, int bits) {
  return _pext_u64(codes, byte_mask(bits));
}
inline std::uint64_t spread(std::uint64_t packed, int bits) {
  return _pdep_u64(packed, byte_mask(bits));
}
#endif

void pack_levels(const std::int8_t* levels, std::size_t n, int s, int bits, std::byte* packed) {
  typedef std::uint8_t Codes __attribute__((vector_size(8)));
  for (std::size_t i = 0; i < n; i += 8, packed += bits) {
    const Codes codes = load<Codes>(levels + i) + static_cast<std::uint8_t>(s);
    const std::uint64_t word = squeeze(std::bit_cast<std::uint64_t>(codes), bits);
    // A copy of fixed size is one instruction; what is too much the next one overwrites.
    if (n - i >= 64) {
      std::memcpy(packed, &word, 8);
    } else {
      std::memcpy(packed, &word, static_cast<std::size_t>(bits));
    }
  }
}

unsigned add_levels(const std::byte* packed, std::size_t n, int s, int bits, float factor,
                    float* sum) {
  typedef std::uint8_t Codes __attribute__((vector_size(8)));
  Ints most{};
  for (std::size_t i = 0; i < n; i += kLanes, packed += bits) {
    std::uint64_t word = 0;
    if (n - i >= 64) {
      std::memcpy(&word, packed, 8);
    } else {
      std::memcpy(&word, packed, static_cast<std::size_t>(bits));
    }
    const auto codes = std::bit_cast<Codes>(spread(word, bits));
    const Ints wide = __builtin_convertvector(codes, Ints);
    const Floats values = __builtin_convertvector(wide - s, Floats) * factor;
    if (i + kLanes <= n) {
      most = wide > most ? wide : most;
      store(sum + i, load<Floats>(sum + i) + values);
      continue;
    }
    for (std::size_t k = 0; i + k < n; ++k) {
      most[k] = std::max(most[k], wide[k]);
      sum[i + k] += values[k];
    }
  }
  int largest_code = 0;
  for (std::size_t i = 0; i < kLanes; ++i) largest_code = std::max(largest_code, most[i]);
  return static_cast<unsigned>(largest_code);
}

}  // namespace
}  // namespace lockstep
