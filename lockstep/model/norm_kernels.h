// The loops of normalisation over channels-last data: a row holds the channels of one pixel, rows
// follow one another. Each loop goes over memory once. Without torch: raw pointers, one thread.
//
// Words: scale and shift turn a channel's value x into scale·x + shift; the mask is where the ReLU
// let a value pass.
#pragma once

#include <cstddef>

namespace lockstep {

struct RowBlock {
  std::size_t rows = 0;
  std::size_t channels = 0;
};

// How the gradient of the output passes the ReLU backwards.
enum class Mask {
  kNone,        // there was no ReLU
  kRecomputed,  // where scale·x + shift > 0: nothing but x need be read
  kByOutput,    // where the output was > 0; sum_gradients leaves the masked gradient in dy
};

struct GradientRows {
  float* dy = nullptr;
  const float* x = nullptr;
  const float* output = nullptr;                   // kByOutput
  const float *scale = nullptr, *shift = nullptr;  // kRecomputed
  Mask mask = Mask::kNone;
};

struct NormKernels {
  // Per channel: sum and sum of squares of x − origin.
  void (*sum_columns)(RowBlock block, const float* x, const float* origin, float* sum,
                      float* squares);
  // out = scale·x + shift (+ residual unless null), then ReLU if wanted.
  void (*scale_and_shift)(RowBlock block, const float* x, const float* residual, const float* scale,
                          const float* shift, bool relu, float* out);
  // Per channel: sum of g and of g·(x − mean), where g is the masked dy.
  void (*sum_gradients)(RowBlock block, const GradientRows& in, const float* mean, float* sum,
                        float* sum_with_x);
  // dx = of_g·g + of_x·(x − mean) + rest; dx may be dy. kByOutput: dy is masked already.
  void (*combine_gradients)(RowBlock block, const GradientRows& in, const float* mean,
                            const float* of_g, const float* of_x, const float* rest, float* dx);
};

// All give the same bits. norm_kernels() picks by what the CPU has.
const NormKernels& norm_kernels();
const NormKernels& plain_norm_kernels();
const NormKernels& avx2_norm_kernels();  // only where the CPU has AVX2

}  // namespace lockstep
