// The loops of compressors, on raw pointers and one thread. Each goes over memory once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep {

// Of values that go by the sign: ≥ 0 or less.
struct SignSums {
  double plus = 0, minus = 0;  // sums
  std::size_t pluses = 0;      // how many
  std::uint32_t largest = 0;   // of all bits without sign: shows what is not finite (half.h)
};

struct SquareSum {
  double squares = 0;
  std::uint32_t largest = 0;
};

struct Beyond {
  std::size_t count = 0;
  std::uint32_t largest = 0;
};

struct CompressKernels {
  std::uint32_t (*largest)(const float* values, std::size_t n);
  SquareSum (*squares)(const float* values, std::size_t n);
  // Bit i of the bytes is whether value i is ≥ 0; what is left of the last byte is 0.
  SignSums (*pack_signs)(const float* values, std::size_t n, std::byte* bits);
  // Bits of values > t and of values < −t; what is left of the last bytes is 0.
  Beyond (*pack_beyond)(const float* values, std::size_t n, float t, std::byte* above,
                        std::byte* below);
  // sum += t where the one bit is set, −t where the other one is.
  void (*add_beyond)(const std::byte* above, const std::byte* below, std::size_t n, float t,
                     float* sum);
  // sum += bit ? plus : minus
  void (*add_signs)(const std::byte* bits, std::size_t n, float plus, float minus, float* sum);
  // levels[i] = ± floor(s·|v|/norm + u), u uniform in [0, 1) and a pure function of key and i.
  void (*quantise)(const float* values, std::size_t n, float norm, int s, std::uint64_t key,
                   std::int8_t* levels);
  // The places of levels that are not 0, ascending; room for n. n is a multiple of 8.
  std::size_t (*find_nonzero)(const std::int8_t* levels, std::size_t n, std::uint32_t* places);
  // Levels + s as numbers of `bits` bits, 8 of them in `bits` bytes; n is a multiple of 8.
  void (*pack_levels)(const std::int8_t* levels, std::size_t n, int s, int bits, std::byte* packed);
  // sum += factor·level; returns the largest code, which is at most 2s if all is well.
  unsigned (*add_levels)(const std::byte* packed, std::size_t n, int s, int bits, float factor,
                         float* sum);
  // The places, counted from `base`, of values with |v| > threshold or NaN, ascending. Stops when
  // it has `most` or a few more; there must be room for 7 more. How far it came is left in n.
  std::size_t (*select)(const float* values, std::size_t& n, float threshold, std::uint32_t base,
                        std::uint32_t* places, std::size_t most);
  void (*accumulate)(const float* values, std::size_t n, float* sum);  // sum += values
  float (*dot)(const float* a, const float* b, std::size_t n);
  // sum += scale · values
  void (*add_scaled)(const float* values, std::size_t n, float scale, float* sum);
};

// All give the same bits. compress_kernels() picks by what the CPU has.
const CompressKernels& compress_kernels();
const CompressKernels& plain_compress_kernels();
const CompressKernels& avx2_compress_kernels();  // only where the CPU has AVX2 and BMI2

}  // namespace lockstep
