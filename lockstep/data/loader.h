// Samples of a data set as a batch: converted to floats, normalised, augmented.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lockstep/data/augmentation.h"
#include "lockstep/data/batch.h"
#include "lockstep/data/dataset.h"
#include "lockstep/data/normalisation.h"

namespace lockstep {

class Loader {
 public:
  // Throws a DataError if the data set holds less than it says, and a ConfigError if normalisation
  // or augmentation do not fit it.
  Loader(std::shared_ptr<const Dataset> dataset, Normalisation normalisation,
         Augmentation augmentation, std::uint64_t seed);

  // Fills everything of `batch` but parts and step. `epoch` keys the augmentation. Safe to call
  // from several workers at once with batches of their own.
  void load(std::span<const SampleId> ids, std::int64_t epoch, Batch& batch) const;
  // Without augmentation, for validation and test.
  void load_plain(std::span<const SampleId> ids, Batch& batch) const;

  const Dataset& dataset() const { return *dataset_; }

 private:
  struct Window;  // which part of an image is cut out
  void start(std::span<const SampleId> ids, Batch& batch) const;
  void put_tokens(SampleId id, std::int64_t* tokens, std::int64_t* labels) const;
  void put_values(SampleId id, const Window& window, float* out) const;

  std::shared_ptr<const Dataset> dataset_;
  Normalisation normalisation_;  // an entry a channel, or none
  Augmentation augmentation_;
  std::uint64_t seed_;
  std::size_t height_, width_, channels_;  // what is no image is one row of pixels of one channel
  std::vector<float> of_byte_;             // channel × 256: what a byte becomes
};

}  // namespace lockstep
