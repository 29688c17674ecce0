// Post-local SGD (Lin, Stich, Patel, Jaggi 2018): synchronous until a given part of training is
// done, local SGD from then on. The beginning, where replicas would drift apart fastest, is exact;
// what comes after saves communication, and its noise tends to find flatter minima.
#include <cmath>

#include "lockstep/sync/local.h"

namespace lockstep {
namespace {

class PostLocal : public LocalSgd {
 public:
  PostLocal(double share, std::int64_t period, OptimizerMemory memory)
      : LocalSgd(period, memory), share_(share) {}

  std::optional<std::int64_t> world_period() const override { return {}; }
  void prepare(const SyncSetup& setup) override {
    switch_ = std::llround(share_ * static_cast<double>(setup.steps));
    communicator_ = &setup.communicator;
  }
  SyncTraits traits() const override {
    SyncTraits traits = LocalSgd::traits();
    traits.gradients = true;
    return traits;
  }
  Communicator* gradient_members(std::int64_t step) override {
    return step < switch_ ? communicator_ : nullptr;
  }
  void step(SyncStep& step) override {
    if (step.index >= switch_) return LocalSgd::step(step);
    average_and_step(step, step.communicator);
    if (step.index + 1 == switch_) step.communicator.know(step.replica.params());
  }

 private:
  double share_;
  Communicator* communicator_ = nullptr;
  std::int64_t switch_ = 0;  // the first step alone
};

OptionSet post_local_options() {
  OptionSet options = local_options(8, "L_W, steps between two averages after the switch");
  options.real("switch", 0.5, "part of training that is synchronous; 1: all of it")
      .at_least(0)
      .at_most(1);
  return options;
}

const Registration<SyncStrategy> kPostLocal{
    "post-local", "Synchronous for a part of training, then local.", post_local_options(),
    [](const Options& options) {
      return std::make_unique<PostLocal>(options.real("switch"), options.integer("period"),
                                         memory_option(options));
    }};

}  // namespace
}  // namespace lockstep
