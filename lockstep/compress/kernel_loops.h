// The text of the kernels, compiled once for every CPU and once for those with AVX2: each file that
// includes it gets its own copy. Sums are kept in eight lanes everywhere, so the bits are the same.
#pragma once

#include "lockstep/compress/kernels.h"
#include "lockstep/compress/level_loops.h"
#include "lockstep/compress/select_loops.h"
#include "lockstep/compress/sign_loops.h"
#include "lockstep/compress/vector_loops.h"

namespace lockstep {
namespace {

constexpr CompressKernels kCompressKernels{
    largest,      squares,     pack_signs, pack_beyond, add_beyond, add_signs, quantise,
    find_nonzero, pack_levels, add_levels, select,      accumulate, dot,       add_scaled};

}  // namespace
}  // namespace lockstep
