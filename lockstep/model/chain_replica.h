// A replica whose network is a chain of layers with hand-written backward.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/model/chain_builder.h"
#include "lockstep/model/softmax_loss.h"

namespace lockstep {

class ChainReplica : public Replica {
 public:
  // Adds its layers to the builder and ends with classifier().
  using Build = std::function<std::vector<LayerPointer>(ChainBuilder&)>;

  ChainReplica(const ModelSettings& settings, const std::string& network, const Build& build);

  PassResult forward_backward(const Batch& batch, float weight,
                              const LayerReady& on_layer) override;
  PassResult evaluate(const Batch& batch) override;
  void predict(const Batch& batch, std::span<float> scores) override;

  std::span<float> params() override { return parameters_.flat().params(); }
  std::span<float> grads() override { return parameters_.flat().grads(); }
  std::span<float> buffers() override { return parameters_.flat().buffers(); }
  std::span<const Layer> layers() const override { return parameters_.flat().layers(); }

  SharedParameters shared_params() override { return parameters_.flat().shared(); }
  void use_params(SharedParameters params) override { parameters_.flat().use(std::move(params)); }
  void apply_update() override { parameters_.refresh(); }
  bool may_overflow() const override { return precision_ == Precision::kFp16; }
  void report_overflow(bool overflowed) override;
  void state(StateVisitor& visitor) override;
  double modelled_seconds() const override;
  std::span<const double> backward_seconds() const override { return backward_seconds_; }
  void share_statistics(StatisticsSum sum, int workers) override;
  void save(const std::string& path) override;
  std::vector<std::string> remarks() const override;

 private:
  Pass pass_over(const Batch& batch, bool training);
  torch::Tensor input(const Pass& pass) const;
  torch::Tensor forward(const Pass& pass);
  PassResult pass_without_samples(const Pass& pass);

  ModelSettings settings_;
  Precision precision_;
  ActivationMemory memory_;
  std::size_t last_size_ = 0;  // samples of the last batch
  ParameterStore parameters_;
  std::vector<LayerPointer> chain_;
  SoftmaxLoss loss_;
  LossScale scale_;
  StatisticsSum statistics_sum_;
  std::vector<double> backward_seconds_;  // of one sample, by layer
};

// A network of the configuration that is a chain.
class ChainKind : public ModelKind {
 public:
  ChainKind(std::string network, ChainReplica::Build build)
      : network_(std::move(network)), build_(std::move(build)) {}
  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    return std::make_unique<ChainReplica>(settings, network_, build_);
  }
  bool mergeable() const override { return true; }

 private:
  std::string network_;
  ChainReplica::Build build_;
};

}  // namespace lockstep
