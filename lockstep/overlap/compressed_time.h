// How long averages of compressed vectors take, by how long those of floats take.
#pragma once

#include "lockstep/compress/compression_plan.h"

namespace lockstep {

// Seconds a byte of the vector: what is sent is less, but takes time to make and to read. Modelled,
// so that all members find the same. `plan` may be null.
double compressed_beta(double beta, const CompressionPlan* plan, std::span<const Layer> layers);

}  // namespace lockstep
