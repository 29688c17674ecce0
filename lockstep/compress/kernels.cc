#include "lockstep/compress/kernels.h"

#include "lockstep/compress/kernel_loops.h"

namespace lockstep {

const CompressKernels& plain_compress_kernels() {
  return kCompressKernels;
}

const CompressKernels& compress_kernels() {
#if defined(__x86_64__)
  static const bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  if (fast) return avx2_compress_kernels();
#endif
  return plain_compress_kernels();
}

}  // namespace lockstep
