// Momentum correction (Deep Gradient Compression, Lin et al. 2018). A value that waits in the
// residual for many steps and is then sent at once has missed its momentum. So momentum comes
// before the residual, on each worker, and not after it in the optimizer:
//
//   u ← m·u + g,   e ← e + u,   send the largest of e, which leave e and (masking) u
//
// Masking: what was just sent has no momentum left over that would push a stale direction on.
#pragma once

#include <memory>

#include "lockstep/compress/compressor.h"

namespace lockstep {

// "momentum" and "masking".
void add_momentum_correction(OptionSet& options);
// With momentum, feedback and masking around the compressor.
std::unique_ptr<Compressor> with_momentum_correction(const Options& options,
                                                     std::unique_ptr<Compressor> inner);

}  // namespace lockstep
