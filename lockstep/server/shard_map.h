// Which server shard holds which part of the flat vector: contiguous ranges, nearly equal. Pure
// arithmetic.
#pragma once

#include <span>
#include <vector>

#include "lockstep/base/layer.h"
#include "lockstep/collective/chunks.h"

namespace lockstep {

class ShardMap {
 public:
  // With `whole_layers` borders fall between layers, for optimizers that look at a layer as a whole
  // (LARS); some shards may then be empty.
  ShardMap(std::span<const Layer> layers, int shards, bool whole_layers);

  int shards() const { return static_cast<int>(ranges_.size()); }
  std::size_t size() const { return size_; }  // of the whole vector
  const Range& range(int shard) const { return ranges_[static_cast<std::size_t>(shard)]; }
  // What the shard has of the layers, with offsets that count from the shard's begin.
  std::vector<Layer> layers_of(int shard) const;

 private:
  std::vector<Layer> layers_;
  std::size_t size_ = 0;
  std::vector<Range> ranges_;
};

}  // namespace lockstep
