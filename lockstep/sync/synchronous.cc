// Synchronous data-parallel SGD: gradients are averaged every step and everybody takes the same
// update, so that all replicas stay the same to the bit. With M workers of batch b it is the
// mathematics of one worker with batch M·b.
#include "lockstep/sync/shared_update.h"
#include "lockstep/sync/strategy.h"

namespace lockstep {
namespace {

class Synchronous : public SyncStrategy {
 public:
  SyncTraits traits() const override {
    return {.own_models = false,
            .merges = true,
            .resizes = true,
            .every_step = true,
            .gradients = true};
  }
  std::optional<std::int64_t> world_period() const override { return 1; }
  void prepare(const SyncSetup& setup) override { setup_.emplace(setup); }
  void start() override {
    if (setup_->shares_update) {
      shared_ =
          SharedUpdate::begin(setup_->communicator.group(), setup_->replica, setup_->optimizer);
    }
  }
  void before_saving() override {
    if (shared_) shared_->complete(setup_->optimizer);
  }

  Communicator* gradient_members(std::int64_t) override { return &setup_->communicator; }
  void step(SyncStep& step) override {
    // The average is the same everywhere, so everybody does the same.
    if (!shared_) return average_and_step(step, step.communicator);
    step.communicator.record(step.replica.grads().size(), [&] {
      return shared_->step(step.index, step.rates, step.replica, step.optimizer);
    });
  }
  void finish(SyncStep&) override {}
  bool consistent_now() const override { return true; }
  void state(StateVisitor&) override {}

 private:
  std::optional<SyncSetup> setup_;
  std::unique_ptr<SharedUpdate> shared_;
};

const Registration<SyncStrategy> kSynchronous{
    "synchronous",
    "Average gradients every step; all workers take the same update.",
    {},
    [](const Options&) { return std::make_unique<Synchronous>(); }};

}  // namespace
}  // namespace lockstep
