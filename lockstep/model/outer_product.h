// C = Aᵀ·B for few rows: the gradient of a linear layer's weights, of which the batch is the inner
// length. A is k × m, B is k × n, C is m × n, rows one behind the other.
//
// C is as large as the weights, and each element takes only k products, so what counts is memory:
// every element is written once and never read. (A general product clears C first, reads and adds.)
// Six rows of C are made at a time, each from its begin to its end, so that memory is written in
// long streaks; B is packed by panels of 16 columns, which stay in the second cache. Without torch:
// raw pointers.
#pragma once

#include <cstddef>

#include "lockstep/base/aligned.h"

namespace lockstep {

class OuterProduct {
 public:
  static constexpr std::size_t kRows = 6, kColumns = 16;  // that are made at a time

  // For CPUs with AVX2 and FMA, and where B packed fits the second cache.
  static bool possible(std::size_t k, std::size_t n);

  void pack(std::size_t k, std::size_t n, const float* b);
  // Rows `begin` to `end` of C; of several threads each may make its own. The bits do not depend on
  // how they are shared out.
  void make_rows(std::size_t begin, std::size_t end, std::size_t m, const float* a, float* c) const;

 private:
  static bool compiled();  // for a CPU such as this
  // Six rows and 16 columns, rows `stride` apart, of all of C or beside it.
  static void make_tile(std::size_t k, const float* six, const float* panel, float* to,
                        std::size_t stride);

  std::size_t k_ = 0, n_ = 0;
  AlignedVector<float> panels_;  // B, packed
};

}  // namespace lockstep
