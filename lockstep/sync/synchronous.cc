// Synchronous data-parallel SGD: gradients are averaged every step and everybody takes the same
// update, so that all replicas stay the same to the bit. With M workers of batch b it is the
// mathematics of one worker with batch M·b.
#include <cmath>

#include "lockstep/sync/strategy.h"

namespace lockstep {
namespace {

class Synchronous : public SyncStrategy {
 public:
  void step(SyncStep& step) override {
    Replica& replica = step.replica;
    step.communicator.average(replica.grads());
    if (replica.may_overflow()) {
      // The average is the same everywhere, so everybody decides the same.
      const bool overflowed = !finite(replica.grads());
      replica.report_overflow(overflowed);
      if (overflowed) return;
    }
    step.optimizer.update(step.index, step.rates, replica.params(), replica.grads(), 0,
                          replica.layers().size());
    replica.apply_update();
  }
  void finish(SyncStep&) override {}
  bool consistent_now() const override { return true; }
  void state(StateVisitor&) override {}

 private:
  static bool finite(std::span<const float> values) {
    float sum = 0;  // of zeros, or NaN as soon as one is not finite
    for (const float value : values) sum += value * 0.0f;
    return sum == 0.0f;
  }
};

const Registration<SyncStrategy> kSynchronous{
    "synchronous",
    "Average gradients every step; all workers take the same update.",
    {},
    [](const Options&) { return std::make_unique<Synchronous>(); }};

}  // namespace
}  // namespace lockstep
