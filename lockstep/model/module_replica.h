// A replica around any network that torch differentiates (FlatModule): softmax cross entropy on the
// scores it gives, backward into the flat gradients.
#pragma once

#include <vector>

#include "lockstep/model/flat_module.h"
#include "lockstep/model/precision.h"
#include "lockstep/model/replica.h"

namespace lockstep {

class ModuleReplica : public Replica {
 public:
  // Throws a ConfigError if the module does not take such samples or gives no score a class.
  ModuleReplica(TrainableModule module, const ModelSettings& settings);

  PassResult forward_backward(const Batch& batch, float weight,
                              const LayerReady& on_layer = {}) override;
  PassResult evaluate(const Batch& batch) override;
  void predict(const Batch& batch, std::span<float> scores) override;
  std::span<float> params() override { return module_.flat().params(); }
  std::span<float> grads() override { return module_.flat().grads(); }
  std::span<float> buffers() override { return module_.flat().buffers(); }
  std::span<const Layer> layers() const override { return module_.flat().layers(); }
  void apply_update() override;
  bool may_overflow() const override { return precision_ == Precision::kFp16; }
  void report_overflow(bool overflowed) override { scale_.update(overflowed); }
  void state(StateVisitor& visitor) override;
  double modelled_seconds() const override { return modelled_seconds_; }
  void save(const std::string& path) override;
  std::vector<std::string> remarks() const override;

 private:
  const std::string& title() const { return module_.module().title; }
  double try_out();
  PassResult differentiate(const Batch& batch, float weight);
  void finish_layer(std::size_t index);
  void set_training(bool training);
  torch::Tensor input_of(const Batch& batch) const;
  torch::Tensor scores_of(const Batch& batch) const;

  DataShape data_;
  std::uint64_t seed_;
  double label_smoothing_;
  Precision precision_;
  LossScale scale_;
  FlatModule module_;
  std::vector<char> finished_;            // a layer each, of the pass under way
  const LayerReady* on_layer_ = nullptr;  // of the pass under way
  bool training_ = false;
  bool channels_last_ = true;  // images as they lie in memory; else copied to torch's default
  double modelled_seconds_ = 0;
};

}  // namespace lockstep
