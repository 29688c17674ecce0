// Compiled for AVX2 and BMI2; see kernels.h.
#include "lockstep/compress/kernels.h"

#if defined(__AVX2__)
#include "lockstep/compress/kernel_loops.h"

namespace lockstep {

const CompressKernels& avx2_compress_kernels() {
  return kCompressKernels;
}

}  // namespace lockstep
#endif
