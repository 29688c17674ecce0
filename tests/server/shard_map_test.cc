#include "lockstep/server/shard_map.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lockstep {
namespace {

std::vector<Layer> layers_of_sizes(const std::vector<std::size_t>& sizes) {
  std::vector<Layer> layers;
  std::size_t offset = 0;
  for (const std::size_t size : sizes) {
    const auto rows = static_cast<std::int64_t>(size);
    layers.push_back({"layer" + std::to_string(layers.size()), offset, size, {rows, 1}});
    offset += size;
  }
  return layers;
}

const std::vector<std::vector<std::size_t>> kModels{
    {1}, {37}, {20, 17}, {1000, 10, 64, 1, 3}, {5, 5, 5, 5, 5, 5, 5}, {1, 1000000}, {4096, 1}};

template <typename Check>
void for_every_map(const Check& check) {
  for (const auto& sizes : kModels) {
    for (const int shards : {1, 2, 3, 4, 7, 16, 100}) {
      for (const bool whole : {false, true}) {
        const auto layers = layers_of_sizes(sizes);
        check(layers, ShardMap(layers, shards, whole), whole);
      }
    }
  }
}

TEST(ShardMap, RangesFollowEachOtherFromBeginToEnd) {
  for_every_map([](const std::vector<Layer>& layers, const ShardMap& map, bool) {
    std::size_t at = 0;
    for (int shard = 0; shard < map.shards(); ++shard) {
      EXPECT_EQ(map.range(shard).begin, at);
      at = map.range(shard).end();
    }
    EXPECT_EQ(at, layers.back().offset + layers.back().size);
    EXPECT_EQ(at, map.size());
  });
}

TEST(ShardMap, WholeLayersAreNeverCut) {
  for_every_map([](const std::vector<Layer>& layers, const ShardMap& map, bool whole) {
    if (!whole) return;
    std::size_t held = 0;
    for (int shard = 0; shard < map.shards(); ++shard) {
      for (const Layer& part : map.layers_of(shard)) {
        const Layer& layer = layers[held++];  // every one once, in their order
        EXPECT_EQ(part.name, layer.name);
        EXPECT_EQ(part.size, layer.size);
        EXPECT_EQ(part.shape, layer.shape);
      }
    }
    EXPECT_EQ(held, layers.size());
  });
}

// Optimizers are prepared with them: see Optimizer::prepare.
TEST(ShardMap, LayersOfAShardCoverItWithoutGaps) {
  for_every_map([](const std::vector<Layer>&, const ShardMap& map, bool) {
    for (int shard = 0; shard < map.shards(); ++shard) {
      std::size_t at = 0;
      for (const Layer& part : map.layers_of(shard)) {
        EXPECT_EQ(part.offset, at);
        EXPECT_EQ(std::accumulate(part.shape.begin(), part.shape.end(), std::int64_t{1},
                                  std::multiplies<>()),
                  static_cast<std::int64_t>(part.size));
        at += part.size;
      }
      EXPECT_EQ(at, map.range(shard).size);
    }
  });
}

TEST(ShardMap, ShardsAreNearlyEqualAndShareNoCacheLine) {
  for_every_map([](const std::vector<Layer>&, const ShardMap& map, bool whole) {
    if (whole) return;
    std::size_t least = map.size(), most = 0;
    for (int shard = 0; shard < map.shards(); ++shard) {
      least = std::min(least, map.range(shard).size);
      most = std::max(most, map.range(shard).size);
      if (map.range(shard).size > 0) {
        EXPECT_EQ(map.range(shard).begin % 16, 0u);
      }
    }
    EXPECT_LE(most - least, 31u);  // a grain, and what the last one is short of
  });
}

TEST(ShardMap, LiteralCases) {
  const auto two = layers_of_sizes({20, 17});
  EXPECT_EQ(ShardMap(two, 2, false).range(0), (Range{0, 32}));
  EXPECT_EQ(ShardMap(two, 2, false).range(1), (Range{32, 5}));
  // Of the borders of layers, 37 is nearer to 32 than 20 is.
  EXPECT_EQ(ShardMap(two, 2, true).range(0), (Range{0, 37}));
  EXPECT_EQ(ShardMap(two, 2, true).range(1), (Range{37, 0}));
  const auto three = layers_of_sizes({20, 17, 30});
  EXPECT_EQ(ShardMap(three, 2, true).range(0), (Range{0, 37}));
  EXPECT_EQ(ShardMap(three, 2, true).range(1), (Range{37, 30}));
  // More shards than lines, and than layers: the last ones are empty.
  EXPECT_EQ(ShardMap(two, 5, false).range(4), (Range{37, 0}));
  EXPECT_EQ(ShardMap(layers_of_sizes({3}), 4, true).range(0).size +
                ShardMap(layers_of_sizes({3}), 4, true).range(3).size,
            3u);
}

}  // namespace
}  // namespace lockstep
