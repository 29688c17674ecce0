#include "lockstep/compress/low_rank.h"

#include <algorithm>
#include <cmath>

#include "lockstep/compress/kernels.h"

namespace lockstep {

Factors factors_of(const Layer& layer, int rank) {
  Factors f{.offset = layer.offset};
  if (layer.shape.size() < 2 || layer.shape.front() <= 0) return f;
  f.rows = static_cast<std::size_t>(layer.shape.front());
  if (layer.size % f.rows != 0) return f;
  f.columns = layer.size / f.rows;
  const std::size_t r = std::min({static_cast<std::size_t>(rank), f.rows, f.columns});
  if (r * (f.rows + f.columns) < layer.size) f.rank = r;
  return f;
}

void project(const Factors& f, const float* values, const float* q, float* p) {
  const auto dot = compress_kernels().dot;
  for (std::size_t i = 0; i < f.rows; ++i) {
    const float* const row = values + f.offset + i * f.columns;
    for (std::size_t k = 0; k < f.rank; ++k)
      p[k * f.rows + i] = dot(row, q + k * f.columns, f.columns);
  }
}

void project_back(const Factors& f, const float* values, const float* p, float* q) {
  const auto add_scaled = compress_kernels().add_scaled;
  for (std::size_t i = 0; i < f.rows; ++i) {
    const float* const row = values + f.offset + i * f.columns;
    for (std::size_t k = 0; k < f.rank; ++k) {
      add_scaled(row, f.columns, p[k * f.rows + i], q + k * f.columns);
    }
  }
}

void add_product(const Factors& f, const float* p, const float* q, float scale, float* sum) {
  const auto add_scaled = compress_kernels().add_scaled;
  for (std::size_t i = 0; i < f.rows; ++i) {
    float* const row = sum + f.offset + i * f.columns;
    for (std::size_t k = 0; k < f.rank; ++k) {
      add_scaled(q + k * f.columns, f.columns, scale * p[k * f.rows + i], row);
    }
  }
}

// A row at a time, while it is in the cache.
void set_product(const Factors& f, const float* p, const float* q, float* product) {
  const auto add_scaled = compress_kernels().add_scaled;
  for (std::size_t i = 0; i < f.rows; ++i) {
    float* const row = product + f.offset + i * f.columns;
    std::fill_n(row, f.columns, 0.0f);
    for (std::size_t k = 0; k < f.rank; ++k) {
      add_scaled(q + k * f.columns, f.columns, p[k * f.rows + i], row);
    }
  }
}

bool normalise(float* column, std::size_t size) {
  const double length = std::sqrt(compress_kernels().squares(column, size).squares);
  if (!(length > 0) || !std::isfinite(length)) {
    std::fill_n(column, size, 0.0f);
    return false;
  }
  for (std::size_t i = 0; i < size; ++i) {
    column[i] = static_cast<float>(static_cast<double>(column[i]) / length);
  }
  return true;
}

void orthonormalise(float* columns, std::size_t size, std::size_t count) {
  constexpr double kDependent = 1e-5;  // of a column's length is left: that is rounding
  const CompressKernels& kernels = compress_kernels();
  for (std::size_t k = 0; k < count; ++k) {
    float* const column = columns + k * size;
    if (!normalise(column, size)) continue;
    for (int again = 0; again < 2; ++again) {  // the second time takes off what rounding left
      for (std::size_t j = 0; j < k; ++j) {
        const float* const earlier = columns + j * size;
        kernels.add_scaled(earlier, size, -kernels.dot(earlier, column, size), column);
      }
      const bool independent = kernels.squares(column, size).squares > kDependent * kDependent;
      if (!independent) std::fill_n(column, size, 0.0f);
      if (!normalise(column, size)) break;
    }
  }
}

}  // namespace lockstep
