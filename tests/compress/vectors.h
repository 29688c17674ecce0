// Vectors of every kind that a compressor may meet, as a model of several layers has them.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/base/random.h"
#include "lockstep/compress/compressor.h"

namespace lockstep {

using Vector = AlignedVector<float>;

// A convolution, its norm, a gap that is not the compressor's, a linear layer and its bias: sizes
// that are no multiples of eight.
inline std::vector<Layer> some_layers() {
  std::vector<Layer> layers{{"conv", 0, 540, {20, 3, 3, 3}, LayerKind::kWeight},
                            {"norm", 540, 21, {21}, LayerKind::kNorm},
                            {"linear", 600, 1500, {30, 50}, LayerKind::kWeight},
                            {"bias", 2100, 30, {30}, LayerKind::kBias}};
  return layers;
}
inline constexpr std::size_t kLength = 2130;

inline std::vector<Layer> one_layer(std::size_t size) {
  return {{"all", 0, size, {static_cast<std::int64_t>(size)}, LayerKind::kWeight}};
}

inline Vector normal_vector(std::size_t n, std::uint64_t seed, double scale = 1) {
  Random random(seed, "vector");
  Vector values(n);
  for (float& value : values) value = static_cast<float>(random.normal() * scale);
  return values;
}

struct NamedVector {
  std::string name;
  Vector values;
};

inline std::vector<NamedVector> all_kinds(std::size_t n) {
  std::vector<NamedVector> kinds{
      {"normal", normal_vector(n, 1)},     {"constant", Vector(n, 0.25f)},
      {"zero", Vector(n, 0.0f)},           {"tiny", normal_vector(n, 2, 1e-30)},
      {"huge", normal_vector(n, 3, 1e30)}, {"denormal", normal_vector(n, 4, 1e-41)},
      {"negative", Vector(n, -3.0f)},      {"sparse", Vector(n, 0.0f)}};
  for (std::size_t i = 0; i < n; i += 37) kinds.back().values[i] = 1.0f + static_cast<float>(i);
  return kinds;
}

inline double largest_of(const Vector& values) {
  double most = 0;
  for (const float value : values) most = std::max(most, std::fabs(static_cast<double>(value)));
  return most;
}

inline Bytes message_of(Compressor& compressor, const Vector& values, std::uint64_t key = 7) {
  Bytes bytes;
  compressor.encode(values, {.epoch = 0, .key = key}, bytes);
  return bytes;
}

inline Vector decoded(const Compressor& compressor, BytesView message, std::size_t n) {
  Vector values(n);
  compressor.add(message, 1, values);
  return values;
}

inline std::unique_ptr<Compressor> make(
    const std::string& name, std::span<const Layer> layers,
    const std::vector<std::pair<std::string, std::string>>& settings = {}) {
  Options options = Registry<Compressor>::instance().options(name);
  for (const auto& [key, value] : settings) options.set(key, value);
  auto compressor = Registry<Compressor>::instance().make(name, options);
  compressor->prepare(layers);
  return compressor;
}

inline double norm(const Vector& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

}  // namespace lockstep
