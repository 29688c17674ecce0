// A replica whose network is a chain of layers with hand-written backward.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lockstep/model/chain_stage.h"
#include "lockstep/model/replica.h"

namespace lockstep {

class ChainReplica : public ChainModel<Replica> {
 public:
  ChainReplica(const ModelSettings& settings, const std::string& network, const BuildChain& build);

  PassResult forward_backward(const Batch& batch, float weight,
                              const LayerReady& on_layer) override;
  PassResult evaluate(const Batch& batch) override;
  void predict(const Batch& batch, std::span<float> scores) override;

  bool may_overflow() const override { return precision_ == Precision::kFp16; }
  void report_overflow(bool overflowed) override;
  void state(StateVisitor& visitor) override;
  void share_statistics(StatisticsSum sum, int workers) override;
  void save(const std::string& path) override;

 private:
  Pass begin_pass(const Batch& batch, bool training);
  torch::Tensor scores_of(const Batch& batch);
  PassResult pass_without_samples(const Pass& pass);

  std::size_t last_size_ = 0;  // samples of the last batch
  std::vector<LayerPointer> chain_;
  LossScale scale_;
  StatisticsSum statistics_sum_;
};

// A network of the configuration that is a chain.
class ChainKind : public ModelKind {
 public:
  ChainKind(std::string network, BuildChain build)
      : network_(std::move(network)), build_(std::move(build)) {}
  std::unique_ptr<Replica> make(const ModelSettings& settings) const override {
    return std::make_unique<ChainReplica>(settings, network_, build_);
  }
  bool mergeable() const override { return true; }
  std::vector<ModelUnit> units(const ModelSettings& settings) const override;
  std::unique_ptr<Stage> make_stage(const ModelSettings& settings, Range units) const override {
    return std::make_unique<ChainStage>(settings, network_, build_, units);
  }

 private:
  std::string network_;
  BuildChain build_;
};

}  // namespace lockstep
