// Transforms and products of Winograd's tiles with AVX2 and FMA; see winograd.h for the words.
// Included by one file, which is compiled for such CPUs.
#pragma once

#include <immintrin.h>

#include <cstddef>

namespace lockstep {
namespace {

constexpr std::size_t kLanes = 8;

// Goes through the tiles of a batch and says where their pixels lie.
class TileWalk {
 public:
  TileWalk(std::size_t height, std::size_t width, std::size_t channels, std::size_t first)
      : height_(height), width_(width), channels_(channels) {
    const std::size_t columns = (width + 1) / 2, rows = (height + 1) / 2;
    image_ = first / (rows * columns);
    row_ = first / columns % rows * 2;
    column_ = first % columns * 2;
  }
  void advance() {
    if ((column_ += 2) < width_) return;
    column_ = 0;
    if ((row_ += 2) < height_) return;
    row_ = 0;
    ++image_;
  }
  // The 4 × 4 pixels around an output tile, or `outside` where the image has none.
  void input(const float* x, const float* outside, const float* (&pixels)[16]) const {
    const bool inner = row_ > 0 && column_ > 0 && row_ + 2 < height_ && column_ + 2 < width_;
    if (inner) {
      const float* row = x + offset(row_ - 1, column_ - 1);
      for (std::size_t r = 0; r < 4; ++r, row += width_ * channels_) {
        for (std::size_t c = 0; c < 4; ++c) pixels[4 * r + c] = row + c * channels_;
      }
      return;
    }
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t row = row_ + i / 4 - 1, column = column_ + i % 4 - 1;  // −1 wraps: outside
      pixels[i] = inside(row, column) ? x + offset(row, column) : outside;
    }
  }
  // The 2 × 2 pixels of an output tile.
  template <typename Float>
  void output(Float* y, Float* outside, Float* (&pixels)[4]) const {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t row = row_ + i / 2, column = column_ + i % 2;
      pixels[i] = inside(row, column) ? y + offset(row, column) : outside;
    }
  }

 private:
  bool inside(std::size_t row, std::size_t column) const {
    return row < height_ && column < width_;
  }
  std::size_t offset(std::size_t row, std::size_t column) const {
    return ((image_ * height_ + row) * width_ + column) * channels_;
  }

  std::size_t height_, width_, channels_;
  std::size_t image_, row_, column_;
};

// Bᵀ d B for eight channels; place k of the result goes to v + k·stride.
inline void transform_input(const float* const (&pixels)[16], std::size_t channel, float* v,
                            std::size_t stride) {
  __m256 t[16];
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m256 d0 = _mm256_loadu_ps(pixels[c] + channel);
    const __m256 d1 = _mm256_loadu_ps(pixels[4 + c] + channel);
    const __m256 d2 = _mm256_loadu_ps(pixels[8 + c] + channel);
    const __m256 d3 = _mm256_loadu_ps(pixels[12 + c] + channel);
    t[c] = _mm256_sub_ps(d0, d2);
    t[4 + c] = _mm256_add_ps(d1, d2);
    t[8 + c] = _mm256_sub_ps(d2, d1);
    t[12 + c] = _mm256_sub_ps(d1, d3);
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    float* to = v + std::size_t(4 * r) * stride;
    _mm256_storeu_ps(to, _mm256_sub_ps(t[4 * r], t[4 * r + 2]));
    _mm256_storeu_ps(to + stride, _mm256_add_ps(t[4 * r + 1], t[4 * r + 2]));
    _mm256_storeu_ps(to + 2 * stride, _mm256_sub_ps(t[4 * r + 2], t[4 * r + 1]));
    _mm256_storeu_ps(to + 3 * stride, _mm256_sub_ps(t[4 * r + 1], t[4 * r + 3]));
  }
}

// Aᵀ M A for eight channels, into the four pixels of an output tile; null pixels are left out.
inline void transform_output(const float* m, std::size_t stride, float* const (&pixels)[4],
                             std::size_t channel) {
  __m256 rows[2][4];
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m256 m0 = _mm256_loadu_ps(m + std::size_t(c) * stride);
    const __m256 m1 = _mm256_loadu_ps(m + std::size_t(4 + c) * stride);
    const __m256 m2 = _mm256_loadu_ps(m + std::size_t(8 + c) * stride);
    const __m256 m3 = _mm256_loadu_ps(m + std::size_t(12 + c) * stride);
    rows[0][c] = _mm256_add_ps(_mm256_add_ps(m0, m1), m2);
    rows[1][c] = _mm256_sub_ps(_mm256_sub_ps(m1, m2), m3);
  }
#pragma GCC unroll 2
  for (int r = 0; r < 2; ++r) {
    const __m256* row = rows[r];
    if (pixels[2 * r] != nullptr) {
      _mm256_storeu_ps(pixels[2 * r] + channel,
                       _mm256_add_ps(_mm256_add_ps(row[0], row[1]), row[2]));
    }
    if (pixels[2 * r + 1] != nullptr) {
      _mm256_storeu_ps(pixels[2 * r + 1] + channel,
                       _mm256_sub_ps(_mm256_sub_ps(row[1], row[2]), row[3]));
    }
  }
}

// A dY Aᵀ for eight channels.
inline void transform_gradient(const float* const (&pixels)[4], std::size_t channel, float* m,
                               std::size_t stride) {
  const __m256 minus = _mm256_set1_ps(-0.0f);
  __m256 t[4][2];
#pragma GCC unroll 2
  for (int c = 0; c < 2; ++c) {
    const __m256 y0 = _mm256_loadu_ps(pixels[c] + channel);
    const __m256 y1 = _mm256_loadu_ps(pixels[2 + c] + channel);
    t[0][c] = y0;
    t[1][c] = _mm256_add_ps(y0, y1);
    t[2][c] = _mm256_sub_ps(y0, y1);
    t[3][c] = _mm256_xor_ps(y1, minus);
  }
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    float* to = m + std::size_t(4 * r) * stride;
    _mm256_storeu_ps(to, t[r][0]);
    _mm256_storeu_ps(to + stride, _mm256_add_ps(t[r][0], t[r][1]));
    _mm256_storeu_ps(to + 2 * stride, _mm256_sub_ps(t[r][0], t[r][1]));
    _mm256_storeu_ps(to + 3 * stride, _mm256_xor_ps(t[r][1], minus));
  }
}

// kRows × 16 sums in registers over `depth` terms: each takes one value a row, `row_step` apart,
// and sixteen values of b. A term further on is a_step and b_step further on.
template <int kRows, bool kAdd>
inline void multiply(const float* a, std::size_t row_step, std::size_t a_step, const float* b,
                     std::size_t b_step, std::size_t depth, float* c, std::size_t c_step) {
  __m256 low[kRows], high[kRows];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    low[r] = kAdd ? _mm256_loadu_ps(c + std::size_t(r) * c_step) : _mm256_setzero_ps();
    high[r] = kAdd ? _mm256_loadu_ps(c + std::size_t(r) * c_step + 8) : _mm256_setzero_ps();
  }
  for (std::size_t i = 0; i < depth; ++i, a += a_step, b += b_step) {
    const __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
      const __m256 value = _mm256_broadcast_ss(a + std::size_t(r) * row_step);
      low[r] = _mm256_fmadd_ps(value, b0, low[r]);
      high[r] = _mm256_fmadd_ps(value, b1, high[r]);
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    _mm256_storeu_ps(c + std::size_t(r) * c_step, low[r]);
    _mm256_storeu_ps(c + std::size_t(r) * c_step + 8, high[r]);
  }
}

// Any number of rows: six at a time, the last ones so that few are done alone.
template <bool kAdd>
inline void multiply_rows(std::size_t rows, const float* a, std::size_t row_step,
                          std::size_t a_step, const float* b, std::size_t b_step, std::size_t depth,
                          float* c, std::size_t c_step) {
  while (rows > 0) {
    const auto run = [&]<int kRows>() {
      multiply<kRows, kAdd>(a, row_step, a_step, b, b_step, depth, c, c_step);
      a += kRows * row_step;
      c += kRows * c_step;
      rows -= kRows;
    };
    if (rows >= 6 && rows != 8) {
      run.template operator()<6>();
    } else if (rows >= 4) {
      run.template operator()<4>();
    } else {
      run.template operator()<1>();
    }
  }
}

}  // namespace
}  // namespace lockstep
