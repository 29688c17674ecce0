// A batch as the loader makes it and models read it: floats or tokens, labels, and which samples
// they are. Memory is reused from batch to batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lockstep/base/aligned.h"

namespace lockstep {

using SampleId = std::uint32_t;  // a sample's number in its data set

// What a model must fit.
struct DataShape {
  enum class Kind {
    kImage,   // shape {channels, height, width}; values lie row, column, channel (channels last)
    kVector,  // any other shape of floats, values in row-major order
    kTokens,  // shape {length}; whole numbers below `vocabulary`, a label for every position
  };
  Kind kind = Kind::kVector;
  std::vector<std::int64_t> sample;  // shape of one sample
  std::int64_t classes = 0;          // labels are 0 … classes−1
  std::int64_t vocabulary = 0;       // kTokens only

  std::size_t values() const;             // elements of one sample
  std::size_t labels_per_sample() const;  // 1, or the length of a sequence
  bool operator==(const DataShape&) const = default;
};

// What others predict for the labels of a batch: the loss draws the model towards it.
struct SoftTargets {
  AlignedVector<float> probabilities;  // a row of shape.classes for every label; empty: none
  float weight = 0;                    // of the cross entropy with them in the loss
};

struct Batch {
  DataShape shape;
  std::vector<SampleId> ids;           // one a sample; augmentation and dropout are keyed by them
  AlignedVector<float> values;         // size × shape.values(); empty for kTokens
  AlignedVector<std::int64_t> tokens;  // size × length; empty otherwise
  AlignedVector<std::int64_t> labels;  // size × shape.labels_per_sample()
  // Workers computed together as one large batch: how many samples each has, in order. Batch norm
  // takes its statistics over each part. Empty: one worker.
  std::vector<std::size_t> parts;
  std::int64_t step = 0;  // of training; dropout is keyed by it
  SoftTargets soft;       // beside the labels; the loader leaves none

  std::size_t size() const { return ids.size(); }
};

}  // namespace lockstep
