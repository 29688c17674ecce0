// How gradients leave while backward is still computing: in which pieces ("buckets"). Backward
// finishes layers from the last to the first, so a bucket is a run of consecutive layers, and
// buckets leave in that order, the same on all ranks. A bucket is a part of the flat gradient:
// nothing is packed.
//
// All is decided by a model of time. Layer i is ready at ready(i); an average of n bytes takes
// α + β·n seconds on the wire, one after the other:
//
//   end(bucket) = max(end(bucket before), ready(its first layer)) + α + β·bytes
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/base/layer.h"
#include "lockstep/base/range.h"
#include "lockstep/base/registry.h"

namespace lockstep {

// In the order in which backward finishes layers, the last one first.
struct BackwardProfile {
  std::vector<std::size_t> bytes;  // of each gradient
  std::vector<double> ready;       // when it is there, in seconds; empty: not measured
  double alpha = 0, beta = 0;      // of an average: seconds, and seconds a byte
};

// Where each bucket ends: it has the layers of the profile up to there, from where the one before
// ended. The last one is the number of layers.
using Buckets = std::vector<std::size_t>;

class Bucketing {
 public:
  virtual ~Bucketing() = default;
  virtual bool overlaps() const { return true; }
  // Does it need `ready`, `alpha` and `beta`?
  virtual bool measures() const { return false; }
  virtual Buckets plan(const BackwardProfile& profile) const = 0;
};

template <>
Registry<Bucketing>& Registry<Bucketing>::instance();

// Sizes alone.
BackwardProfile profile_of(std::span<const Layer> layers);
// When the last average is over.
double predicted_end(const BackwardProfile& profile, std::span<const std::size_t> buckets);
// The parts of the flat vector that the buckets are.
std::vector<Range> parts_of(std::span<const Layer> layers, std::span<const std::size_t> buckets);

}  // namespace lockstep
