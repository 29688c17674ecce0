#include "lockstep/server/shard_map.h"

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr std::size_t kGrain = 16;  // floats of a cache line

}  // namespace

ShardMap::ShardMap(std::span<const Layer> layers, int shards, bool whole_layers)
    : layers_(layers.begin(), layers.end()) {
  LOCKSTEP_CHECK(shards >= 1, "{} shards", shards);
  for (const Layer& layer : layers_) size_ += layer.size;
  std::size_t begin = 0;
  for (int shard = 0; shard < shards; ++shard) {
    std::size_t end = grained_chunk(size_, kGrain, shards, shard).end();
    if (whole_layers && shard + 1 < shards) {
      // The border between layers that is nearest.
      std::size_t nearest = size_;
      for (const Layer& layer : layers_) {
        const auto distance = [&](std::size_t at) { return at > end ? at - end : end - at; };
        if (distance(layer.offset) < distance(nearest)) nearest = layer.offset;
      }
      end = std::max(begin, nearest);
    }
    ranges_.push_back({begin, end - begin});
    begin = end;
  }
}

std::vector<Layer> ShardMap::layers_of(int shard) const {
  const Range own = range(shard);
  return cut_layers(layers_, own.begin, own.end());
}

}  // namespace lockstep
