// A part of a network that torch differentiates, as a stage of a pipeline. Autograd keeps what
// backward needs of every micro-batch and adds up the gradients.
#pragma once

#include <vector>

#include "lockstep/model/flat_module.h"
#include "lockstep/model/softmax_loss.h"
#include "lockstep/model/stage.h"

namespace lockstep {

struct ModelSettings;

// A ConfigError unless the settings ask for 32-bit floats.
void require_float(const ModelSettings& settings, const std::string& title);

// What stands between two cuts.
struct ModulePart {
  TrainableModule module;
  std::vector<std::int64_t> in, out;  // shapes of a sample; empty in the first and the last part
  bool channels_last = true;          // images; else torch's default
};

class ModuleStage : public Stage {
 public:
  // Throws a ConfigError if the part does not take such samples.
  ModuleStage(ModulePart part, const ModelSettings& settings);

  std::span<float> params() override { return module_.flat().params(); }
  std::span<float> grads() override { return module_.flat().grads(); }
  std::span<float> buffers() override { return module_.flat().buffers(); }
  std::span<const Layer> layers() const override { return module_.flat().layers(); }
  void state(StateVisitor& visitor) override { module_.state(visitor); }
  double modelled_seconds() const override { return modelled_seconds_; }
  bool repeats() const override { return !module_.module().draws_random_numbers; }
  std::vector<std::string> remarks() const override { return module_.module().remarks; }

  std::size_t in_values() const override;
  std::size_t out_values() const override;
  void make_slots(std::size_t count) override { slots_.resize(count); }
  PassResult forward(const MicroBatch& micro, std::span<const float> in,
                     std::span<float> out) override;
  void backward(const MicroBatch& micro, std::span<float> out, std::span<float> in,
                const LayerReady& on_layer) override;
  PassResult evaluate(const Batch& batch, std::span<const float> in, std::span<float> out) override;

 private:
  struct Slot {
    torch::Tensor in, out, gradient;  // the gradient of the scores, in the last stage
  };

  bool first() const { return in_.empty(); }
  bool last() const { return out_.empty(); }
  const std::string& title() const { return module_.module().title; }
  void set_training(bool training);
  torch::Tensor over(const std::vector<std::int64_t>& shape, const float* values,
                     std::size_t samples) const;
  torch::Tensor entering(const Batch& batch, std::span<const float> in) const;
  torch::Tensor run(const torch::Tensor& in, const Batch& batch) const;
  torch::Tensor scores_of(const torch::Tensor& out, const Batch& batch) const;
  void leave(const torch::Tensor& tensor, std::span<float> to) const;
  void finish_layer(std::size_t index);

  DataShape data_;
  std::uint64_t seed_;
  SoftmaxLoss loss_;
  std::vector<std::int64_t> in_, out_;
  bool channels_last_;
  FlatModule module_;
  std::vector<Slot> slots_;
  std::vector<char> finished_;            // a layer each, of the backward under way
  const LayerReady* on_layer_ = nullptr;  // of it
  bool training_ = false;
  double modelled_seconds_ = 0;
};

}  // namespace lockstep
