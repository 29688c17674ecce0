#include "lockstep/base/layer.h"

#include <algorithm>

namespace lockstep {

std::vector<Layer> cut_layers(std::span<const Layer> layers, std::size_t begin, std::size_t end) {
  std::vector<Layer> cut;
  for (const Layer& layer : layers) {
    const std::size_t from = std::max(layer.offset, begin);
    const std::size_t to = std::min(layer.offset + layer.size, end);
    if (from >= to) continue;
    Layer& part = cut.emplace_back(layer);
    part.offset = from - begin;
    part.size = to - from;
    if (part.size != layer.size) part.shape = {static_cast<std::int64_t>(part.size)};
  }
  return cut;
}

}  // namespace lockstep
