#include "lockstep/compress/low_rank.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lockstep/compress/kernels.h"

namespace lockstep {

namespace {

// A matrix's rows, one at a time. Those that lie in pieces are put together in a small buffer,
// which stays in the cache while all columns of a factor pass over it.
class Rows {
 public:
  explicit Rows(const Factors& f) : f_(f), row_(f.together > 1 ? f.columns : 0) {}

  const float* get(const float* values, std::size_t i) {
    const float* from = values + begin(i);
    if (f_.together == 1) return from;
    for (std::size_t at = 0; at < f_.columns; at += f_.piece, from += f_.together * f_.piece) {
      std::copy_n(from, f_.piece, row_.data() + at);
    }
    return row_.data();
  }
  // A row to be changed, by put() then; as it is in `values`, or zeros.
  float* take(float* values, std::size_t i) {
    return f_.together == 1 ? values + begin(i) : const_cast<float*>(get(values, i));
  }
  float* take_zeros(float* values, std::size_t i) {
    float* const row = f_.together == 1 ? values + begin(i) : row_.data();
    std::fill_n(row, f_.columns, 0.0f);
    return row;
  }
  void put(float* values, std::size_t i) const {
    if (f_.together == 1) return;
    float* to = values + begin(i);
    for (std::size_t at = 0; at < f_.columns; at += f_.piece, to += f_.together * f_.piece) {
      std::copy_n(row_.data() + at, f_.piece, to);
    }
  }

 private:
  std::size_t begin(std::size_t i) const {
    return f_.offset + i / f_.together * f_.together * f_.columns + i % f_.together * f_.piece;
  }

  const Factors& f_;
  std::vector<float> row_;
};

}  // namespace

Factors factors_of(const Layer& layer, int rank, FilterView view) {
  Factors f{.offset = layer.offset};
  const auto& shape = layer.shape;
  if (shape.size() < 2 || shape.front() <= 0) return f;
  f.rows = static_cast<std::size_t>(shape.front());
  if (layer.size % f.rows != 0) return f;
  f.columns = f.piece = layer.size / f.rows;
  if (view == FilterView::kSquare && shape.size() == 4 && shape[2] > 1 && shape[3] > 0) {
    const auto height = static_cast<std::size_t>(shape[2]);
    const auto width = static_cast<std::size_t>(shape[3]);
    if (f.columns % (height * width) == 0 &&
        f.rows * height + f.columns / height < f.rows + f.columns) {
      f.rows *= height;
      f.columns /= height;
      f.together = height;
      f.piece = width;
    }
  }
  const std::size_t r = std::min({static_cast<std::size_t>(rank), f.rows, f.columns});
  if (r * (f.rows + f.columns) < layer.size) f.rank = r;
  return f;
}

void project(const Factors& f, const float* values, const float* q, float* p) {
  const auto dot = compress_kernels().dot;
  Rows rows(f);
  for (std::size_t i = 0; i < f.rows; ++i) {
    const float* const row = rows.get(values, i);
    for (std::size_t k = 0; k < f.rank; ++k)
      p[k * f.rows + i] = dot(row, q + k * f.columns, f.columns);
  }
}

void project_back(const Factors& f, const float* values, const float* p, float* q) {
  const auto add_scaled = compress_kernels().add_scaled;
  Rows rows(f);
  for (std::size_t i = 0; i < f.rows; ++i) {
    const float* const row = rows.get(values, i);
    for (std::size_t k = 0; k < f.rank; ++k) {
      add_scaled(row, f.columns, p[k * f.rows + i], q + k * f.columns);
    }
  }
}

void add_product(const Factors& f, const float* p, const float* q, float scale, float* sum) {
  const auto add_scaled = compress_kernels().add_scaled;
  Rows rows(f);
  for (std::size_t i = 0; i < f.rows; ++i) {
    float* const row = rows.take(sum, i);
    for (std::size_t k = 0; k < f.rank; ++k) {
      add_scaled(q + k * f.columns, f.columns, scale * p[k * f.rows + i], row);
    }
    rows.put(sum, i);
  }
}

// A row at a time, while it is in the cache.
void set_product(const Factors& f, const float* p, const float* q, float* product) {
  const auto add_scaled = compress_kernels().add_scaled;
  Rows rows(f);
  for (std::size_t i = 0; i < f.rows; ++i) {
    float* const row = rows.take_zeros(product, i);
    for (std::size_t k = 0; k < f.rank; ++k) {
      add_scaled(q + k * f.columns, f.columns, p[k * f.rows + i], row);
    }
    rows.put(product, i);
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
