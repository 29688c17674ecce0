// The same loops, compiled with -mavx2 (see lockstep/CMakeLists.txt).
#include "lockstep/model/norm_loops.h"

namespace lockstep {

const NormKernels& avx2_norm_kernels() {
  return kNormKernels;
}

}  // namespace lockstep
