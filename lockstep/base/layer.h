// A layer: one parameter tensor of a model and where it stands in the flat vectors of parameters
// and gradients. Optimizers, compressors and overlap know models by their layers only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

enum class LayerKind { kWeight, kBias, kNorm };  // kNorm: scale and shift of a normalisation

struct Layer {
  std::string name;  // "stage1.block0.conv1.weight"
  std::size_t offset = 0;
  std::size_t size = 0;
  std::vector<std::int64_t> shape;
  LayerKind kind = LayerKind::kWeight;
};

// What `begin` … `end` has of the layers, with offsets that count from begin.
std::vector<Layer> cut_layers(std::span<const Layer> layers, std::size_t begin, std::size_t end);

}  // namespace lockstep
