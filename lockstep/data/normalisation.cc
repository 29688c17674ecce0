#include "lockstep/data/normalisation.h"

#include <cmath>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

// Sums of whole numbers are exact in any order; 2^64 / 255² bytes would be needed to overflow.
struct ByteSums {
  std::uint64_t count = 0, sum = 0, squares = 0;
};

double root_or_one(double variance) {
  return variance > 0 ? std::sqrt(variance) : 1;
}

Normalisation measure(const AlignedVector<std::uint8_t>& bytes, std::size_t values,
                      std::size_t channels, std::span<const SampleId> ids) {
  std::vector<ByteSums> sums(channels);
  for (const SampleId id : ids) {
    const std::uint8_t* sample = bytes.data() + id * values;
    for (std::size_t i = 0; i < values; ++i) {
      ByteSums& s = sums[i % channels];
      ++s.count;
      s.sum += sample[i];
      s.squares += std::uint64_t{sample[i]} * sample[i];
    }
  }
  Normalisation result;
  for (const ByteSums& s : sums) {
    const auto n = static_cast<double>(s.count);
    const double mean = static_cast<double>(s.sum) / n;
    const double variance = static_cast<double>(s.squares) / n - mean * mean;
    result.mean.push_back(static_cast<float>(mean / 255));
    // What rounding leaves of a variance of zero is not one.
    result.deviation.push_back(
        static_cast<float>(variance > 1e-9 ? std::sqrt(variance) / 255 : 1.0));
  }
  return result;
}

// Two passes: floats may lie far from zero, where a sum of squares would cancel.
Normalisation measure(const AlignedVector<float>& floats, std::size_t values, std::size_t channels,
                      std::span<const SampleId> ids) {
  const double n = static_cast<double>(ids.size()) * static_cast<double>(values / channels);
  std::vector<double> mean(channels), variance(channels);
  for (const bool second : {false, true}) {
    for (const SampleId id : ids) {
      const float* sample = floats.data() + id * values;
      for (std::size_t i = 0; i < values; ++i) {
        const std::size_t c = i % channels;
        if (second) {
          const double distance = sample[i] - mean[c];
          variance[c] += distance * distance / n;
        } else {
          mean[c] += sample[i] / n;
        }
      }
    }
  }
  Normalisation result;
  for (std::size_t c = 0; c < channels; ++c) {
    result.mean.push_back(static_cast<float>(mean[c]));
    result.deviation.push_back(static_cast<float>(root_or_one(variance[c])));
  }
  return result;
}

}  // namespace

std::size_t channels_of(const DataShape& shape) {
  return shape.kind == DataShape::Kind::kImage ? static_cast<std::size_t>(shape.sample.at(0)) : 1;
}

Normalisation measure_normalisation(const Dataset& dataset, std::span<const SampleId> ids) {
  if (dataset.shape.kind == DataShape::Kind::kTokens || ids.empty()) return {};
  const std::size_t values = dataset.shape.values(), channels = channels_of(dataset.shape);
  const Normalisation result = std::visit(
      [&](const auto& all) {
        for (const SampleId id : ids) {
          LOCKSTEP_CHECK((id + std::size_t{1}) * values <= all.size(), "no sample {} in {}", id,
                         dataset.name);
        }
        return measure(all, values, channels, ids);
      },
      dataset.values);
  for (std::size_t c = 0; c < channels; ++c) {
    if (!std::isfinite(result.mean[c]) || !std::isfinite(result.deviation[c])) {
      throw DataError("data set {} holds values that are not finite: its mean is {}", dataset.name,
                      result.mean[c]);
    }
  }
  return result;
}

}  // namespace lockstep
