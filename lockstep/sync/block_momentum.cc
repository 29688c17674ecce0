// Blockwise model-update filtering (BMUF; Chen, Huo 2016): local SGD whose averages are not taken
// over as they are. The step that the workers together made in a block, G = w̄ − w, is filtered like
// a gradient with momentum:
//
//   Δ ← μΔ + ζG      w ← w + Δ
//
// w is the model that all began the block with. An average over M workers makes about as much
// progress as one of them; the momentum makes up for what the averaging takes away, hence
// μ = 1 − 1/M. With μ = 0 and ζ = 1 it is local SGD. Running statistics are averaged without
// filter.
#include "lockstep/base/aligned.h"
#include "lockstep/sync/local.h"

namespace lockstep {
namespace {

class BlockMomentum : public LocalSgd {
 public:
  explicit BlockMomentum(const Options& options)
      : LocalSgd(options.integer("period"), memory_option(options)),
        momentum_(static_cast<float>(options.real("block_momentum"))),
        rate_(static_cast<float>(options.real("block_rate"))) {}

  SyncTraits traits() const override { return {.amplifies = true}; }
  void prepare(const SyncSetup& setup) override {
    const auto params = setup.replica.params();
    start_.assign(params.begin(), params.end());
    delta_.assign(params.size(), 0.0f);
    if (momentum_ < 0) momentum_ = 1.0f - 1.0f / static_cast<float>(setup.communicator.size());
  }
  void state(StateVisitor& visitor) override {
    LocalSgd::state(visitor);
    visitor.floats("start", start_);
    visitor.floats("delta", delta_);
  }

 protected:
  void agree(SyncStep& step) override {
    LocalSgd::agree(step);
    const auto params = step.replica.params();
    for (std::size_t i = 0; i < params.size(); ++i) {
      delta_[i] = momentum_ * delta_[i] + rate_ * (params[i] - start_[i]);
      params[i] = start_[i] += delta_[i];
    }
    step.communicator.know(params);
    step.replica.apply_update();
  }

 private:
  float momentum_, rate_;
  AlignedVector<float> start_;  // the model that the block began with
  AlignedVector<float> delta_;  // Δ
};

OptionSet block_momentum_options() {
  // The block's momentum has the workers' in it: going on with both would count it twice.
  OptionSet options = local_options(8, "L_W, steps of a block", "reset");
  options.real("block_momentum", -1, "μ, part of the last block's step that is kept; -1: 1 − 1/M")
      .at_least(-1)
      .at_most(0.9999);
  options.real("block_rate", 1, "ζ, factor of the averaged step").above(0);
  return options;
}

const Registration<SyncStrategy> kBlockMomentum{
    "block-momentum", "Local SGD whose averaged steps are filtered by a momentum of their own.",
    block_momentum_options(),
    [](const Options& options) { return std::make_unique<BlockMomentum>(options); }};

}  // namespace
}  // namespace lockstep
