#include "lockstep/sync/shared_update.h"

#include <algorithm>
#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/collective/reduce_op.h"
#include "lockstep/server/shard_map.h"
#include "lockstep/sync/optimizer_memory.h"

namespace lockstep {
namespace {

constexpr std::size_t kBlock = 4096;  // floats: gradients, weights and velocity fit the L1 cache

// What a meeting is for; members that come for different reasons are told.
enum Kind : std::uint64_t { kShare = 1 << 16, kUpdate, kUpdated, kMemory, kCopied };

}  // namespace

std::unique_ptr<SharedUpdate> SharedUpdate::begin(Group& group, Replica& replica,
                                                  const Optimizer& optimizer) {
  SharedSpace* const space = group.size() > 1 ? group.shared() : nullptr;
  SharedParameters params = replica.shared_params();
  if (space == nullptr || !space->direct() || !params || replica.may_overflow()) return nullptr;
  space->meet({&params, sizeof params, kShare});
  const SharedParameters first = *static_cast<SharedParameters*>(space->card(0).data);
  space->meet({nullptr, sizeof params, kShare});
  replica.use_params(first);
  replica.apply_update();
  const ShardMap map(replica.layers(), group.size(), optimizer.whole_layers());
  return std::unique_ptr<SharedUpdate>(
      new SharedUpdate(group.transport(), *space, map.range(group.index())));
}

double SharedUpdate::step(std::int64_t index, const Rates& rates, Replica& replica,
                          Optimizer& optimizer) {
  const auto grads = replica.grads();
  space_.meet({grads.data(), grads.size_bytes(), kUpdate});
  const double began = transport_.now();
  const auto of = [&](int member, Range block) {
    const auto* theirs = static_cast<const float*>(space_.card(member).data);
    return std::span(theirs + block.begin, block.size);
  };
  optimizer.update_part(index, rates, replica.params(), own_.begin, {});  // the step counts for all
  const Reduction mean = Reduction::over(ReduceOp::kMean, space_.size());
  // Whole layers are of any size; then the slice is averaged before it is updated.
  const bool blocks = !optimizer.whole_layers();
  sum_.resize(std::min(blocks ? kBlock : own_.size, own_.size));
  for (std::size_t at = own_.begin; at < own_.end(); at += sum_.size()) {
    const Range block{at, std::min(sum_.size(), own_.end() - at)};
    const auto average = std::span(sum_).first(block.size);
    std::ranges::copy(of(0, block), average.begin());
    for (int i = 1; i < space_.size(); ++i) combine(mean.op, average, of(i, block));
    finish(mean, average);
    optimizer.update_part(index, rates, replica.params(), block.begin, average);
  }
  const double seconds = transport_.now() - began;
  space_.meet({nullptr, grads.size_bytes(), kUpdated});
  replica.apply_update();
  return seconds;
}

void SharedUpdate::complete(Optimizer& optimizer) {
  for (const std::span<float> mine : memory_of(optimizer)) {
    space_.meet({mine.data(), mine.size_bytes(), kMemory});
    // Everybody hands its own slice to all others.
    for (int i = 0; i < space_.size(); ++i) {
      if (i == space_.index() || own_.size == 0) continue;
      auto* const theirs = static_cast<float*>(space_.card(i).data);
      std::memcpy(theirs + own_.begin, mine.data() + own_.begin, own_.size * sizeof(float));
    }
    space_.meet({nullptr, mine.size_bytes(), kCopied});
  }
}

}  // namespace lockstep
