// 3 × 3 convolutions with padding 1 and stride 1 by Winograd's minimal filtering F(2×2, 3×3)
// (Lavin & Gray 2016), channels-last: 16 products where the plain sum takes 36.
//
// An output tile of 2 × 2 pixels is made from an input tile of 4 × 4:
//   input tile d, filter g:   V = Bᵀ d B,   U = G g Gᵀ   (16 values each)
//   output tile:              Y = Aᵀ M A,   M[k] = Σ over input channels of V[k]·U[k]
// so that a convolution is 16 small matrix products between two cheap transforms. Backwards, the
// gradient of x is a convolution of dy with the turned filter; that of the filter is Gᵀ dU G, where
// dU[k] = Σ over tiles of V[k]ᵀ·(A dY Aᵀ)[k].
//
// Tiles are taken in chunks whose transforms stay in cache. Without torch: raw pointers, one
// thread.
#pragma once

#include <cstddef>

#include "lockstep/base/aligned.h"

namespace lockstep {

class Winograd {
 public:
  static constexpr std::size_t kPlaces = 16;  // of a transformed tile

  // For CPUs with AVX2 and FMA, and numbers of channels that fill two vectors.
  static bool possible(std::size_t in, std::size_t out);

  Winograd(std::size_t images, std::size_t height, std::size_t width, std::size_t in,
           std::size_t out);

  std::size_t chunks() const;
  std::size_t filter_size() const { return kPlaces * in_ * out_; }

  // U from weights that lie output channel, input channel, row, column.
  static void transform_filter(std::size_t in, std::size_t out, const float* weights, float* u);
  // That of the convolution which takes dy back to dx: for Winograd(images, height, width, out,
  // in).
  static void transform_turned_filter(std::size_t in, std::size_t out, const float* weights,
                                      float* u);

  using Scratch = AlignedVector<float>;  // grows as needed; one a thread
  // The outputs of one chunk.
  void convolve(std::size_t chunk, const float* x, const float* u, float* y,
                Scratch& scratch) const;
  // Adds what one chunk contributes to dU.
  void add_filter_gradient(std::size_t chunk, const float* x, const float* dy, float* du,
                           Scratch& scratch) const;
  // Gradient of the weights, which lie as above.
  static void finish_filter_gradient(std::size_t in, std::size_t out, const float* du,
                                     float* gradient);

 private:
  struct Work {
    std::size_t first = 0, tiles = 0;
    std::size_t v_stride = 0, m_stride = 0;  // from place to place
    float *v = nullptr, *m = nullptr;
    const float* zeros = nullptr;
  };
  Work work_on(std::size_t chunk, Scratch& scratch) const;
  void transform_inputs(const Work& work, const float* x) const;

  std::size_t height_, width_, in_, out_;
  std::size_t tiles_, chunk_tiles_;
};

}  // namespace lockstep
