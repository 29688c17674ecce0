#include "lockstep/compress/compressor.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

template <>
Registry<Compressor>& Registry<Compressor>::instance() {
  static Registry<Compressor> registry("compress", "compressor");
  return registry;
}

void Compressor::clear_sent(BytesView, std::span<float>) const {
  throw InternalError("this compressor does not send values themselves");
}

std::vector<Range> runs_of(std::span<const Layer> layers) {
  std::vector<Range> runs;
  for (const Layer& layer : layers) {
    if (layer.size == 0) continue;
    if (!runs.empty() && runs.back().end() == layer.offset) {
      runs.back().size += layer.size;
    } else {
      runs.push_back({layer.offset, layer.size});
    }
  }
  return runs;
}

std::size_t size_of(std::span<const Range> runs) {
  std::size_t size = 0;
  for (const Range& run : runs) size += run.size;
  return size;
}

void refuse_non_finite(std::span<const float> values, std::span<const Layer> layers) {
  for (const Layer& layer : layers) {
    for (const float value : values.subspan(layer.offset, layer.size)) {
      if (std::isfinite(value)) continue;
      throw TrainingError(
          "{} holds a value that is {} and cannot be compressed; a lower rate ([optim] lr), a "
          "warm-up ([schedule] warmup_epochs) or precision = \"float\" may help",
          layer.name, std::isnan(value) ? "no number (NaN)" : "infinite");
    }
  }
  throw InternalError("all values are finite");
}

}  // namespace lockstep
