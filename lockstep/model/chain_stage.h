// Consecutive units of a network that is a chain, as a stage of a pipeline. Every micro-batch under
// way has layers of its own, which keep what backward needs; all of them share the parameters.
#pragma once

#include "lockstep/model/chain_model.h"
#include "lockstep/model/stage.h"

namespace lockstep {

class ChainStage : public ChainModel<Stage> {
 public:
  ChainStage(const ModelSettings& settings, std::string network, BuildChain build, Range units);

  std::size_t in_values() const override { return first_ ? 0 : entry_.values(); }
  std::size_t out_values() const override { return last_ ? 0 : exit_.values(); }
  void make_slots(std::size_t count) override;
  PassResult forward(const MicroBatch& micro, std::span<const float> in,
                     std::span<float> out) override;
  void backward(const MicroBatch& micro, std::span<float> out, std::span<float> in,
                const LayerReady& on_layer) override;
  PassResult evaluate(const Batch& batch, std::span<const float> in, std::span<float> out) override;

 private:
  struct Slot {
    std::vector<LayerPointer> chain;
    torch::Tensor gradient;  // of the scores, in the last stage
  };

  ChainBuilder builder();
  void forget_other_sizes(std::size_t samples);
  torch::Tensor entering(const Pass& pass, std::span<const float> in) const;
  static void leave(const ActivationShape& shape, const torch::Tensor& x, std::span<float> out);

  std::string network_;
  BuildChain build_;
  Range units_;
  bool first_ = false, last_ = false;
  ActivationShape entry_, exit_;
  std::vector<Slot> slots_;
  std::size_t last_size_ = 0;  // samples of the micro-batch that the last pass began with
};

}  // namespace lockstep
