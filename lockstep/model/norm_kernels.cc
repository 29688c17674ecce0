#include "lockstep/model/norm_kernels.h"

#include "lockstep/model/norm_loops.h"

namespace lockstep {

const NormKernels& plain_norm_kernels() {
  return kNormKernels;
}

const NormKernels& norm_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return avx2_norm_kernels();
#endif
  return plain_norm_kernels();
}

}  // namespace lockstep
