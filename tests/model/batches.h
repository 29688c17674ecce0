// Small batches of random data for tests of models.
#pragma once

#include "lockstep/base/random.h"
#include "lockstep/data/batch.h"

namespace lockstep {

inline DataShape image_shape(std::int64_t channels, std::int64_t side, std::int64_t classes) {
  return {DataShape::Kind::kImage, {channels, side, side}, classes, 0};
}
inline DataShape vector_shape(std::vector<std::int64_t> sample, std::int64_t classes) {
  return {DataShape::Kind::kVector, std::move(sample), classes, 0};
}
inline DataShape text_shape(std::int64_t length, std::int64_t vocabulary) {
  return {DataShape::Kind::kTokens, {length}, vocabulary, vocabulary};
}

inline Batch random_batch(const DataShape& shape, std::size_t size, std::uint64_t seed) {
  Random random(seed, "test batch");
  Batch batch;
  batch.shape = shape;
  batch.step = static_cast<std::int64_t>(seed);
  for (std::size_t i = 0; i < size; ++i)
    batch.ids.push_back(static_cast<SampleId>(random.below(1000)));
  const bool tokens = shape.kind == DataShape::Kind::kTokens;
  for (std::size_t i = 0; i < size * shape.values(); ++i) {
    if (tokens) {
      batch.tokens.push_back(
          static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.vocabulary))));
    } else {
      batch.values.push_back(static_cast<float>(random.normal()));
    }
  }
  for (std::size_t i = 0; i < size * shape.labels_per_sample(); ++i) {
    batch.labels.push_back(
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(shape.classes))));
  }
  return batch;
}

}  // namespace lockstep
