// Synchronous data-parallel SGD: gradients are averaged every step and everybody takes the same
// update, so that all replicas stay the same to the bit. With M workers of batch b it is the
// mathematics of one worker with batch M·b.
#include "lockstep/sync/strategy.h"

namespace lockstep {
namespace {

class Synchronous : public SyncStrategy {
 public:
  SyncTraits traits() const override {
    return {.merges = true, .resizes = true, .every_step = true};
  }
  void step(SyncStep& step) override {
    step.communicator.average(step.replica.grads());
    take_step(step);  // the average is the same everywhere, so everybody does the same
  }
  void finish(SyncStep&) override {}
  bool consistent_now() const override { return true; }
  void state(StateVisitor&) override {}
};

const Registration<SyncStrategy> kSynchronous{
    "synchronous",
    "Average gradients every step; all workers take the same update.",
    {},
    [](const Options&) { return std::make_unique<Synchronous>(); }};

}  // namespace
}  // namespace lockstep
