// Mean and deviation of a data set, which bring its values to about −1 … 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/data/dataset.h"

namespace lockstep {

// Per channel (images) or for all values: (value − mean) / deviation. Empty: as it is; bytes are
// divided by 255 first.
struct Normalisation {
  std::vector<float> mean, deviation;
};

// How many means there are: one a channel of an image, else one.
std::size_t channels_of(const DataShape& shape);

// Mean and deviation of each channel over `ids` (for vectors: of all values together); nothing for
// tokens. A channel that never changes has deviation 1. The same bits wherever it is computed.
Normalisation measure_normalisation(const Dataset& dataset, std::span<const SampleId> ids);

}  // namespace lockstep
