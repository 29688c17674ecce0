// The noisy quadratic cut into several layers, which backward finishes in an order of choice.
#pragma once

#include <algorithm>
#include <utility>

#include "lockstep/train/job.h"
#include "tests/quadratic_model.h"

namespace lockstep {

// The order in which layers are finished.
enum class Finishing { kLastFirst, kFirstFirst, kMixed };

class LayeredQuadratic : public QuadraticReplica {
 public:
  explicit LayeredQuadratic(Finishing finishing) : finishing_(finishing) {
    const std::size_t cuts[] = {0, 3, 4, 11, 19, 30, kSize};
    for (std::size_t i = 0; i + 1 < std::size(cuts); ++i) {
      const std::size_t size = cuts[i + 1] - cuts[i];
      layers_.push_back({"layer" + std::to_string(i),
                         cuts[i],
                         size,
                         {static_cast<std::int64_t>(size)},
                         LayerKind::kWeight});
    }
  }

  PassResult forward_backward(const Batch& batch, float weight,
                              const LayerReady& on_layer) override {
    const PassResult result = QuadraticReplica::forward_backward(batch, weight, {});
    std::vector<std::size_t> order(layers_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
    if (finishing_ == Finishing::kFirstFirst) std::ranges::reverse(order);
    if (finishing_ == Finishing::kMixed) {
      // Another one in every step.
      for (std::size_t i = 0; i < order.size(); ++i) {
        std::swap(order[i], order[(i * 7 + static_cast<std::size_t>(batch.step)) % order.size()]);
      }
    }
    if (on_layer) {
      for (const std::size_t index : order) on_layer(index);
    }
    return result;
  }
  std::span<const Layer> layers() const override { return layers_; }

 private:
  Finishing finishing_;
  std::vector<Layer> layers_;
};

class LayeredQuadraticModel : public ModelKind {
 public:
  explicit LayeredQuadraticModel(Finishing finishing = Finishing::kLastFirst)
      : finishing_(finishing) {}
  std::unique_ptr<Replica> make(const ModelSettings&) const override {
    return std::make_unique<LayeredQuadratic>(finishing_);
  }
  bool mergeable() const override { return true; }

 private:
  Finishing finishing_;
};

}  // namespace lockstep
