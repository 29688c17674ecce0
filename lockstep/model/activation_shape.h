// What one sample looks like between two layers of a chain, and tensors over memory that holds it.
#pragma once

#include <torch/torch.h>

#include "lockstep/model/layers.h"

namespace lockstep {

struct ActivationShape {
  bool is_image = false;
  ImageShape image;           // of an image
  std::int64_t features = 0;  // of a vector

  std::size_t values() const {
    const auto count = is_image ? image.channels * image.height * image.width : features;
    return static_cast<std::size_t>(count);
  }

  // Nothing is copied; images are channels-last.
  torch::Tensor over(const float* values, std::int64_t samples) const {
    auto* const memory = const_cast<float*>(values);
    if (!is_image) return torch::from_blob(memory, {samples, features}, torch::kFloat);
    const auto [channels, height, width] = image;
    return torch::from_blob(memory, {samples, channels, height, width},
                            {channels * height * width, 1, channels * width, channels},
                            torch::kFloat);
  }
};

}  // namespace lockstep
