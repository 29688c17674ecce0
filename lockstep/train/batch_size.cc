#include "lockstep/train/batch_size.h"

#include "lockstep/assign/epochs.h"
#include "lockstep/base/error.h"

namespace lockstep {
namespace {

constexpr std::int64_t kDefaultLocalBatch = 32;

std::int64_t period_of(const SyncStrategy& strategy, const std::string& name) {
  const auto period = strategy.world_period();
  if (period) return *period;
  throw ConfigError(
      "[train] effective_batch needs a strategy that averages over all workers every so many "
      "steps, always the same number, which [sync] name = \"{}\" does not; give local_batch, or "
      "use \"local\" or \"households\"",
      name);
}

void check_agrees(const char* option, std::int64_t given, std::int64_t derived,
                  const char* derived_from, std::int64_t value, int workers) {
  if (given == 0 || given == derived) return;
  throw ConfigError("[train] {} = {} makes {} {} with {} workers, but {} = {}; give one of them",
                    derived_from, value, option, derived, workers, option, given);
}

}  // namespace

BatchSize settle_batch(Config& config, const SyncStrategy& strategy, int workers) {
  Section& train = config.at("train");
  const std::int64_t effective = train.own().integer("effective_batch");
  const std::int64_t global = train.own().integer("batch");
  std::int64_t local = train.own().integer("local_batch");
  BatchSize size;
  if (effective > 0) {
    const std::int64_t period = period_of(strategy, config.at("sync").component());
    const int households = strategy.households(workers);
    const std::int64_t derived = household_local_batch(effective, workers, households, period);
    check_agrees("local_batch", local, derived, "effective_batch", effective, workers);
    check_agrees("batch", global, derived * workers, "effective_batch", effective, workers);
    size.scale = household_rate_factor(households, period);
    local = derived;
  } else if (global > 0) {
    const std::int64_t derived = local_batch_of(global, workers);
    check_agrees("local_batch", local, derived, "batch", global, workers);
    local = derived;
  } else if (local == 0) {
    local = kDefaultLocalBatch;
  }
  train.set_value("local_batch", local);
  train.set_value("batch", local * workers);
  size.local = static_cast<std::size_t>(local);
  return size;
}

}  // namespace lockstep
