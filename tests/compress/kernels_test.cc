// All kernels give the same bits, whatever the CPU has.
#include "lockstep/compress/kernels.h"

#include <gtest/gtest.h>

#include "lockstep/base/half.h"
#include "tests/compress/vectors.h"

namespace lockstep {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 7, 8, 9, 31, 32, 33, 100, 4096, 5003};

TEST(CompressKernels, AreTheSameOnEveryCpu) {
  const CompressKernels &plain = plain_compress_kernels(), &fast = compress_kernels();
  for (const std::size_t n : kSizes) {
    for (const NamedVector& kind : all_kinds(n + 1)) {
      const float* v = kind.values.data() + 1;  // not aligned
      EXPECT_EQ(plain.largest(v, n), fast.largest(v, n));
      EXPECT_EQ(plain.squares(v, n).squares, fast.squares(v, n).squares);
      EXPECT_EQ(plain.dot(v, v, n), fast.dot(v, v, n));
      std::vector<std::byte> bits((n + 7) / 8), same = bits;
      const SignSums a = plain.pack_signs(v, n, bits.data()),
                     b = fast.pack_signs(v, n, same.data());
      EXPECT_EQ(a.plus, b.plus);
      EXPECT_EQ(a.minus, b.minus);
      EXPECT_EQ(a.pluses, b.pluses);
      EXPECT_EQ(bits, same);
      Vector x(n, 1.0f), y(n, 1.0f);
      plain.add_signs(bits.data(), n, 0.3f, -0.7f, x.data());
      fast.add_signs(bits.data(), n, 0.3f, -0.7f, y.data());
      EXPECT_EQ(x, y);
    }
  }
}

TEST(CompressKernels, PackLevelsOfEveryWidth) {
  const CompressKernels &plain = plain_compress_kernels(), &fast = compress_kernels();
  const std::size_t n = 1000;
  const Vector values = normal_vector(n, 5);
  for (const int s : {1, 2, 3, 4, 7, 15, 100, 127}) {
    const int bits = std::bit_width(static_cast<unsigned>(2 * s));
    std::vector<std::int8_t> a(n), b(n);
    plain.quantise(values.data(), n, 20, s, 99, a.data());
    fast.quantise(values.data(), n, 20, s, 99, b.data());
    EXPECT_EQ(a, b);
    std::vector<std::byte> packed(n / 8 * static_cast<std::size_t>(bits)), same = packed;
    plain.pack_levels(a.data(), n, s, bits, packed.data());
    fast.pack_levels(a.data(), n, s, bits, same.data());
    EXPECT_EQ(packed, same);
    Vector x(n), y(n);
    EXPECT_LE(plain.add_levels(packed.data(), n, s, bits, 1, x.data()),
              static_cast<unsigned>(2 * s));
    fast.add_levels(packed.data(), n, s, bits, 1, y.data());
    EXPECT_EQ(x, y);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(x[i], static_cast<float>(a[i])) << s;
  }
}

TEST(CompressKernels, SelectWhatIsLarge) {
  for (const std::size_t n : kSizes) {
    const Vector values = normal_vector(n, 6);
    for (const float threshold : {-1.0f, 0.5f, 2.0f, 100.0f}) {
      std::vector<std::uint32_t> expected;
      for (std::size_t i = 0; i < n; ++i) {
        if (std::fabs(values[i]) > threshold) expected.push_back(static_cast<std::uint32_t>(i + 3));
      }
      for (const auto* kernels : {&plain_compress_kernels(), &compress_kernels()}) {
        std::vector<std::uint32_t> places(n + 8);
        std::size_t looked_at = n;
        places.resize(
            kernels->select(values.data(), looked_at, threshold, 3, places.data(), n + 1));
        EXPECT_EQ(places, expected);
        EXPECT_EQ(looked_at, n);
      }
    }
  }
}

TEST(HalfKernels, AreTheSameOnEveryCpu) {
  const HalfKernels &plain = plain_half_kernels(), &fast = half_kernels();
  for (const std::size_t n : kSizes) {
    for (const NamedVector& kind : all_kinds(n)) {
      std::vector<std::uint16_t> a(n), b(n);
      EXPECT_EQ(plain.to_half(kind.values.data(), n, a.data()),
                fast.to_half(kind.values.data(), n, b.data()));
      EXPECT_EQ(a, b) << kind.name;
      EXPECT_EQ(plain.to_brain(kind.values.data(), n, a.data()),
                fast.to_brain(kind.values.data(), n, b.data()));
      EXPECT_EQ(a, b) << kind.name;
    }
  }
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  Vector x(all.size()), y(all.size());
  plain.from_half(all.data(), all.size(), x.data());
  fast.from_half(all.data(), all.size(), y.data());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)), 0);
  plain.from_brain(all.data(), all.size(), x.data());
  fast.from_brain(all.data(), all.size(), y.data());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(float)), 0);
}

TEST(HalfKernels, RoundToNearestAndNeverToInfinity) {
  const float values[] = {1.0f,    -2.5f, 65504.0f, 65520.0f, 1e30f, -1e30f,      6.0e-8f,
                          1.0e-9f, 0.1f,  2049.0f,  2051.0f,  -0.0f, 1.00390625f, 3.4028235e38f};
  const std::uint16_t halves[] = {0x3c00, 0xc100, 0x7bff, 0x7bff, 0x7bff, 0xfbff, 0x0001,
                                  0x0000, 0x2e66, 0x6800, 0x6802, 0x8000, 0x3c04, 0x7bff};
  const std::uint16_t brains[] = {0x3f80, 0xc020, 0x4780, 0x4780, 0x714a, 0xf14a, 0x3381,
                                  0x3089, 0x3dcd, 0x4500, 0x4500, 0x8000, 0x3f80, 0x7f7f};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    std::uint16_t got = 0;
    narrow(Number::kHalf, &values[i], 1, &got);
    EXPECT_EQ(got, halves[i]) << values[i];
    narrow(Number::kBrain, &values[i], 1, &got);
    EXPECT_EQ(got, brains[i]) << values[i];
  }
}

}  // namespace
}  // namespace lockstep
