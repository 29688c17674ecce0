// What all optimizers share: the options lr, weight_decay and which layers decay; the walk over a
// range of layers; the count of updates; vectors of memory (momentum and the like) that are sized,
// cleared and saved together. An optimizer adds what it does to one layer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/optim/optimizer.h"

namespace lockstep {

// The options every optimizer has. Each adds its own to them.
OptionSet optimizer_options(double lr, double weight_decay = 0);

// One layer in one update.
struct LayerUpdate {
  const Layer& layer;
  float* weights;
  const float* gradients;
  double lr;
  double weight_decay;  // 0 where this layer is not to decay
  double epoch;
  std::int64_t count;  // of updates since the beginning or reset(): 1 in the first
};

class LayerwiseOptimizer : public Optimizer {
 public:
  explicit LayerwiseOptimizer(const Options& options);
  LayerwiseOptimizer(const LayerwiseOptimizer&) = delete;
  LayerwiseOptimizer& operator=(const LayerwiseOptimizer&) = delete;

  void prepare(std::span<const Layer> layers) final;
  void update(std::int64_t step, const Rates& rates, std::span<float> params,
              std::span<const float> grads, std::size_t first, std::size_t last) final;
  void update_part(std::int64_t step, const Rates& rates, std::span<float> params,
                   std::size_t begin, std::span<const float> grads) final;
  double base_lr() const final { return lr_; }
  double base_weight_decay() const final { return weight_decay_; }
  void reset() final;
  void state(StateVisitor& visitor) final;

 protected:
  using Memory = AlignedVector<float>;

  // Once for each vector of memory, when constructed: from then on it is as long as the parameters,
  // starts at 0 and is part of the state. `memory` must live as long as the optimizer.
  void remember(std::string name, Memory& memory);

  virtual void update_layer(const LayerUpdate& update) = 0;

 private:
  bool decays(LayerKind kind) const;
  void count(std::int64_t step);
  LayerUpdate update_of(const Layer& layer, const Rates& rates, float* weights,
                        const float* gradients) const;

  struct Remembered {
    std::string name;
    Memory* memory;
  };

  double lr_, weight_decay_;
  bool decay_norm_, decay_bias_;
  std::vector<Layer> layers_;
  std::size_t size_ = 0;
  std::vector<Remembered> remembered_;
  std::int64_t count_ = 0;       // updates begun
  std::int64_t last_step_ = -1;  // the step of the latest of them
};

}  // namespace lockstep
