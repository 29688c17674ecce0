#include "lockstep/train/batch_supply.h"

#include <limits>

namespace lockstep {
namespace {

constexpr Tag kBatchTag = 32;
constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max() / 2;

}  // namespace

BatchSupply::BatchSupply(Transport& transport, const Job& job, std::int64_t step, std::int64_t own)
    : job_(job), source_(job, transport.rank()) {
  if (!job.config().at("train").own().flag("prefetch")) return;
  const bool by_step = job.traits().by_step;
  // Batches that are passed by would take simulated time, and other ones after a resume.
  const bool takes_over = by_step && !job.traits().in_step;
  if (takes_over && job.config().at("cluster").own().text("world") == "sim") return;
  ahead_.emplace(transport, kBatchTag, by_step ? step : own, by_step ? job.plan().steps() : kNoEnd,
                 [this](std::int64_t at, Batch& batch) {
                   batch.step = at;
                   if (at >= passed_.load()) source_.fill(at, batch);
                 });
}

Batch& BatchSupply::take(const Turn& turn, std::int64_t own) {
  if (!ahead_ || turn.helps >= 0) {
    source_.fill(turn, own, here_);
    return here_;
  }
  if (!job_.traits().by_step) return ahead_->next();
  // What was made ahead but taken over by another is passed by.
  passed_ = turn.step;
  Batch* batch = &ahead_->next();
  while (batch->step < turn.step) batch = &ahead_->next();
  return *batch;
}

}  // namespace lockstep
