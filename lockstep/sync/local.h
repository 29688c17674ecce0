// Local SGD (Zinkevich et al. 2010, McDonald et al. 2010, Stich 2018): each worker steps alone, and
// every so often parameters are averaged. A *block* is the run of steps between two averages of the
// world; relatives of local SGD differ in how long blocks are, in who averages within them, and in
// what becomes of the average.
#pragma once

#include <limits>

#include "lockstep/sync/optimizer_memory.h"
#include "lockstep/sync/strategy.h"

namespace lockstep {

class LocalSgd : public SyncStrategy {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  LocalSgd(std::int64_t period, OptimizerMemory memory) : period_(period), memory_(memory) {}

  int households(int workers) const override { return workers; }  // of one worker each
  std::optional<std::int64_t> world_period() const override { return period_; }

  void step(SyncStep& step) override;
  void finish(SyncStep& last) override;
  bool consistent_now() const override { return taken_ == 0; }
  void state(StateVisitor& visitor) override { visitor.integer("taken", taken_); }

 protected:
  // How many steps the block has that begins with step `first`.
  virtual std::int64_t length(std::int64_t /*first*/) const { return period_; }
  // Inside a block, after `taken` of its steps.
  virtual void within(SyncStep&, std::int64_t /*taken*/) {}
  // The end of a block: leaves the same model on all workers. Collective.
  virtual void agree(SyncStep& step);

  // Parameters, running statistics and, if so wished, the optimizer's memory. Collective over the
  // members.
  void average(SyncStep& step, Communicator& members) const;
  std::int64_t period() const { return period_; }

 private:
  std::int64_t period_;
  OptimizerMemory memory_;
  Content content_ = Content::kModel;  // of averages
  std::int64_t taken_ = 0;             // steps of the block
};

// "period" and "momentum".
OptionSet local_options(std::int64_t period, const std::string& sentence,
                        const std::string& momentum = "local");

}  // namespace lockstep
