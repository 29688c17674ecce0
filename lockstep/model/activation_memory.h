// Memory of activations, kept from pass to pass. Every step needs tensors of the same sizes; given
// back to the allocator, large ones would return to the system and cost page faults at each step.
#pragma once

#include <torch/torch.h>

#include <map>
#include <memory>
#include <vector>

#include "lockstep/base/aligned.h"

namespace lockstep {

class ActivationMemory {
 public:
  // A channels-last image with any content. Its memory comes back when the last tensor that
  // shares it is gone, which must happen on the thread that asked for it.
  torch::Tensor image(torch::IntArrayRef shape) {
    const std::int64_t channels = shape[1], height = shape[2], width = shape[3];
    const auto size = static_cast<std::size_t>(shape[0] * channels * height * width);
    auto block = take(size);
    float* values = block->data();
    return torch::from_blob(
        values, shape, {channels * height * width, 1, channels * width, channels},
        [block = std::move(block), free = free_, size](void*) { (*free)[size].push_back(block); },
        torch::kFloat);
  }
  torch::Tensor image_like(const torch::Tensor& other) { return image(other.sizes()); }

  // Other sizes will be wanted: gives back what lies unused.
  void clear() { free_->clear(); }

 private:
  using Block = std::shared_ptr<AlignedVector<float>>;

  Block take(std::size_t size) {
    auto& blocks = (*free_)[size];
    if (blocks.empty()) return std::make_shared<AlignedVector<float>>(size);
    auto block = std::move(blocks.back());
    blocks.pop_back();
    return block;
  }

  // Shared with the tensors, some of which may outlive this.
  std::shared_ptr<std::map<std::size_t, std::vector<Block>>> free_ =
      std::make_shared<std::map<std::size_t, std::vector<Block>>>();
};

}  // namespace lockstep
