#include "lockstep/sync/strategy.h"

#include "lockstep/server/mean_rule.h"

namespace lockstep {
namespace {

bool finite(std::span<const float> values) {
  float sum = 0;  // of zeros, or NaN as soon as one is not finite
  for (const float value : values) sum += value * 0.0f;
  return sum == 0.0f;
}

}  // namespace

template <>
Registry<SyncStrategy>& Registry<SyncStrategy>::instance() {
  static Registry<SyncStrategy> registry("sync", "synchronization strategy");
  return registry;
}

void StalenessRecord::add(std::int64_t staleness, bool was_rejected) {
  const auto at = static_cast<std::size_t>(staleness);
  if (pushes.size() <= at) pushes.resize(at + 1);
  ++pushes[at];
  rejected += was_rejected ? 1 : 0;
}

void SyncStrategy::show_model(SyncStep& step) {
  if (!step.replica.buffers().empty()) step.communicator.average(step.replica.buffers());
}

std::unique_ptr<ShardRule> SyncStrategy::shard_rule(ShardSetup setup) const {
  return std::make_unique<MeanRule>(setup);
}

bool overflowed(Replica& replica) {
  if (!replica.may_overflow()) return false;
  const bool overflowed = !finite(replica.grads());
  replica.report_overflow(overflowed);
  return overflowed;
}

void take_step(SyncStep& step) {
  Replica& replica = step.replica;
  if (overflowed(replica)) return;
  const double began = step.communicator.group().transport().now();
  step.optimizer.update(step.index, step.rates, replica.params(), replica.grads(), 0,
                        replica.layers().size());
  replica.apply_update();
  step.communicator.note_update(began, step.communicator.group().transport().now());
}

void average_and_step(SyncStep& step, Communicator& members) {
  Replica& replica = step.replica;
  const auto grads = replica.grads();
  if (replica.may_overflow()) {  // then no part of the step may be taken before all is known
    members.average(grads, Content::kChange);
    return take_step(step);
  }
  Transport& transport = members.group().transport();
  step.optimizer.update_part(step.index, step.rates, replica.params(), 0, {});  // it counts for all
  members.average(grads, Content::kChange, [&](Range part) {
    const double began = transport.now();
    step.optimizer.update_part(step.index, step.rates, replica.params(), part.begin,
                               slice(grads, part));
    members.note_update(began, transport.now());
  });
  replica.apply_update();
}

void average_model(Replica& replica, Communicator& communicator, Content content) {
  communicator.average(replica.params(), content);
  if (!replica.buffers().empty()) communicator.average(replica.buffers());
  replica.apply_update();
}

}  // namespace lockstep
