#include "lockstep/overlap/bucketing.h"

#include <algorithm>

namespace lockstep {

template <>
Registry<Bucketing>& Registry<Bucketing>::instance() {
  static Registry<Bucketing> registry("overlap", "way to overlap");
  return registry;
}

BackwardProfile profile_of(std::span<const Layer> layers) {
  BackwardProfile profile;
  for (std::size_t i = layers.size(); i-- > 0;) {
    profile.bytes.push_back(layers[i].size * sizeof(float));
  }
  return profile;
}

double predicted_end(const BackwardProfile& profile, std::span<const std::size_t> buckets) {
  double end = 0;
  std::size_t at = 0;
  for (const std::size_t last : buckets) {
    std::size_t bytes = 0;
    for (; at < last; ++at) bytes += profile.bytes[at];
    end = std::max(end, profile.ready[last - 1]) + profile.alpha +
          profile.beta * static_cast<double>(bytes);
  }
  return end;
}

std::vector<Range> parts_of(std::span<const Layer> layers, std::span<const std::size_t> buckets) {
  std::vector<Range> parts;
  std::size_t done = 0;
  for (const std::size_t last : buckets) {
    const Layer& first_layer = layers[layers.size() - last];
    const Layer& last_layer = layers[layers.size() - 1 - done];
    parts.push_back({first_layer.offset, last_layer.offset + last_layer.size - first_layer.offset});
    done = last;
  }
  return parts;
}

}  // namespace lockstep
