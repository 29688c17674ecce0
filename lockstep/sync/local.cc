#include "lockstep/sync/local.h"

namespace lockstep {

void LocalSgd::step(SyncStep& step) {
  take_step(step);
  ++taken_;
  if (taken_ < length(step.index + 1 - taken_)) return within(step, taken_);
  agree(step);
  taken_ = 0;
}

void LocalSgd::finish(SyncStep& last) {
  content_ = Content::kOther;  // what is left is exact
  if (taken_ > 0) agree(last);
  content_ = Content::kModel;
  taken_ = 0;
}

void LocalSgd::agree(SyncStep& step) {
  average(step, step.communicator);
  if (memory_ == OptimizerMemory::kReset) step.optimizer.reset();
}

void LocalSgd::average(SyncStep& step, Communicator& members) const {
  if (members.size() == 1) return;
  average_model(step.replica, members, content_);
  if (memory_ == OptimizerMemory::kAverage) average_memory(step.optimizer, members);
}

OptionSet local_options(std::int64_t period, const std::string& sentence,
                        const std::string& momentum) {
  OptionSet options;
  options.integer("period", period, sentence).at_least(1);
  add_memory_option(options, momentum);
  return options;
}

namespace {

const Registration<SyncStrategy> kLocal{
    "local", "Workers step alone; every few steps their parameters are averaged.",
    local_options(8, "L_W, steps between two averages"), [](const Options& options) {
      return std::make_unique<LocalSgd>(options.integer("period"), memory_option(options));
    }};

}  // namespace
}  // namespace lockstep
