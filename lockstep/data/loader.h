// Samples of a data set as a batch: converted to floats, normalised, augmented.
#pragma once

#include <memory>
#include <span>

#include "lockstep/data/augmentation.h"
#include "lockstep/data/batch.h"
#include "lockstep/data/dataset.h"

namespace lockstep {

class Loader {
 public:
  Loader(std::shared_ptr<const Dataset> dataset, Normalisation normalisation,
         Augmentation augmentation, std::uint64_t seed);

  // Fills everything of `batch` but parts and step. `epoch` keys the augmentation. Safe to call
  // from several workers at once with batches of their own.
  void load(std::span<const SampleId> ids, std::int64_t epoch, Batch& batch) const;
  // Without augmentation, for validation and test.
  void load_plain(std::span<const SampleId> ids, Batch& batch) const;

  const Dataset& dataset() const { return *dataset_; }

 private:
  std::shared_ptr<const Dataset> dataset_;
  Normalisation normalisation_;
  Augmentation augmentation_;
  std::uint64_t seed_;
};

// Mean and deviation of each channel over `ids` (for vectors: of all values together). The same
// bits wherever it is computed.
Normalisation measure_normalisation(const Dataset& dataset, std::span<const SampleId> ids);

}  // namespace lockstep
