// How compressed messages of a group become their mean where they do not add up: by owners of
// chunks, or gathered by everybody (see CompressedMean).
#pragma once

#include <string>

#include "lockstep/compress/compression_plan.h"

namespace lockstep {

// As the plan says; else whichever sends less.
bool owners_pay(const CompressionPlan& plan, int members);

// "topk by owners of chunks": what combines how in a group of so many.
std::string describe_combining(const CompressionPlan& plan, std::span<const Layer> layers,
                               int members);

}  // namespace lockstep
