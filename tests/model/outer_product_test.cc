// The product of a linear layer's gradient against the sum as it is written, whatever the sizes.
#include "lockstep/model/outer_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "lockstep/base/random.h"

namespace lockstep {
namespace {

std::vector<float> random_values(std::size_t n, std::uint64_t seed) {
  Random random(seed, "outer product", 0, 0);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

TEST(OuterProduct, IsTheSumOverTheBatch) {
  for (const std::size_t k : {1, 3, 32, 100}) {
    for (const std::size_t m : {1, 5, 6, 13, 64}) {
      for (const std::size_t n : {1, 8, 16, 37, 130}) {
        if (!OuterProduct::possible(k, n)) continue;  // a CPU without AVX2 takes torch's
        const auto a = random_values(k * m, 1), b = random_values(k * n, 2);
        std::vector<float> c(m * n, -7.0f);
        OuterProduct product;
        product.pack(k, n, b.data());
        // In two goes, as two threads would.
        const std::size_t half = std::min(m, OuterProduct::kRows);
        product.make_rows(0, half, m, a.data(), c.data());
        product.make_rows(half, m, m, a.data(), c.data());
        for (std::size_t i = 0; i < m; ++i) {
          for (std::size_t j = 0; j < n; ++j) {
            double sum = 0, size = 1;
            for (std::size_t p = 0; p < k; ++p) {
              const double term = double(a[p * m + i]) * double(b[p * n + j]);
              sum += term;
              size += std::abs(term);
            }
            ASSERT_NEAR(c[i * n + j], sum, 1e-6 * size) << k << " " << m << " " << n;
          }
        }
      }
    }
  }
}

TEST(OuterProduct, DoesNotTakeWhatDoesNotFitTheCache) {
  EXPECT_FALSE(OuterProduct::possible(1000, 16));
  EXPECT_FALSE(OuterProduct::possible(64, 100000));
}

}  // namespace
}  // namespace lockstep
