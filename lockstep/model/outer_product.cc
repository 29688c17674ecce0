#include "lockstep/model/outer_product.h"

#include <algorithm>
#include <cstring>

namespace lockstep {
namespace {

constexpr std::size_t kMostFloats = 96 * 1024;  // of B packed: most of 512 KB
constexpr std::size_t kLongest = 256;           // k

}  // namespace

bool OuterProduct::possible(std::size_t k, std::size_t n) {
  return k <= kLongest && k * n <= kMostFloats && compiled();
}

void OuterProduct::pack(std::size_t k, std::size_t n, const float* b) {
  k_ = k;
  n_ = n;
  const std::size_t panels = (n + kColumns - 1) / kColumns;
  panels_.assign(panels * k * kColumns, 0.0f);
  for (std::size_t q = 0; q < panels; ++q) {
    const std::size_t columns = std::min(kColumns, n - q * kColumns);
    for (std::size_t p = 0; p < k; ++p) {
      std::memcpy(panels_.data() + (q * k + p) * kColumns, b + p * n + q * kColumns,
                  columns * sizeof(float));
    }
  }
}

void OuterProduct::make_rows(std::size_t begin, std::size_t end, std::size_t m, const float* a,
                             float* c) const {
  alignas(kAlignment) float six[kLongest * kRows] = {};
  alignas(kAlignment) float edge[kRows * kColumns];  // of a tile that reaches beyond C
  for (std::size_t row = begin; row < end; row += kRows) {
    const std::size_t rows = std::min(kRows, end - row);
    for (std::size_t p = 0; p < k_; ++p) {
      std::memcpy(six + p * kRows, a + p * m + row, rows * sizeof(float));
    }
    for (std::size_t column = 0; column < n_; column += kColumns) {
      const float* const panel = panels_.data() + column * k_;
      float* const to = c + row * n_ + column;
      const std::size_t columns = std::min(kColumns, n_ - column);
      if (rows == kRows && columns == kColumns) {
        make_tile(k_, six, panel, to, n_);
        continue;
      }
      make_tile(k_, six, panel, edge, kColumns);
      for (std::size_t i = 0; i < rows; ++i) {
        std::memcpy(to + i * n_, edge + i * kColumns, columns * sizeof(float));
      }
    }
  }
}

}  // namespace lockstep
