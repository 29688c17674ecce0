// A matrix and its factors of low rank, M ≈ P·Qᵀ. Columns of P and Q lie one behind the other, so
// that all loops run along memory.
#pragma once

#include <cstddef>

#include "lockstep/base/layer.h"

namespace lockstep {

// How the filters of a convolution, out × in × height × width, are seen as a matrix.
enum class FilterView {
  kRows,    // out × (in·height·width)
  kSquare,  // (out·height) × (in·width), or as above if that is shorter: its factors are short
};

struct Factors {
  std::size_t offset = 0;  // of the matrix in the flat vector
  std::size_t rows = 0, columns = 0;
  std::size_t rank = 0;  // 0: it is no matrix, or its factors would be no shorter
  // Where row i lies: `together` rows share a block of memory, each as pieces of so many values.
  std::size_t together = 1, piece = 0;
};

// The first dimension against all others, or as `view` says.
Factors factors_of(const Layer& layer, int rank, FilterView view);

// All `values`, `sum` are flat vectors that hold the matrix at its offset.
void project(const Factors& f, const float* values, const float* q, float* p);       // P = M·Q
void project_back(const Factors& f, const float* values, const float* p, float* q);  // Q += Mᵀ·P
void add_product(const Factors& f, const float* p, const float* q, float scale, float* sum);
void set_product(const Factors& f, const float* p, const float* q, float* product);

// To length 1, or to zeros, which returns false.
bool normalise(float* column, std::size_t size);
// Gram and Schmidt. Columns that depend on those before them become zero.
void orthonormalise(float* columns, std::size_t size, std::size_t count);

}  // namespace lockstep
