// Which samples are for training, which for validating along the way, which for the final test.
#pragma once

#include <cstdint>
#include <vector>

#include "lockstep/data/dataset.h"

namespace lockstep {

struct Split {
  // Ascending each, and without a sample in common.
  std::vector<SampleId> train, validation, test;
};

// `validation` of the samples before first_test, chosen by the seed (CIFAR-10, 0.1: 45k/5k/10k).
// In order (`shuffled` false) they are the last ones instead.
Split split(const Dataset& dataset, double validation, bool shuffled, std::uint64_t seed);

}  // namespace lockstep
