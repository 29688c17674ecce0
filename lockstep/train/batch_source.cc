#include "lockstep/train/batch_source.h"

#include <algorithm>

namespace lockstep {

BatchSource::BatchSource(const Job& job, int rank) : job_(job) {
  const Placement& placement = job.placement();
  for (int i = 0; i < placement.merge; ++i) {
    streams_.emplace_back(job.sampler(), placement.first_worker(rank) + i);
  }
}

void BatchSource::fill(const Turn& turn, std::int64_t own, Batch& batch) {
  if (turn.helps < 0) return fill(job_.traits().by_step ? turn.step : own, batch);
  auto& other = others_[turn.helps];
  if (!other) other = std::make_unique<BatchSource>(job_, turn.helps);
  other->fill(turn.step, batch);
}

void BatchSource::fill(std::int64_t step, Batch& batch) {
  const StepPosition at = job_.plan().at_or_beyond(step);
  // Workers of a rank that share batch-norm statistics are one part.
  const auto together =
      static_cast<std::size_t>(std::min(job_.placement().merge, job_.statistics_workers()));
  batch.parts.clear();
  ids_.clear();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const auto own = streams_[i].batch(job_.batch_plan(at), at.epoch, at.index);
    ids_.insert(ids_.end(), own.begin(), own.end());
    if (i % together == 0) batch.parts.push_back(0);
    batch.parts.back() += own.size();
  }
  std::erase(batch.parts, std::size_t{0});  // of workers whose shards are used up
  if (batch.parts.size() == 1) batch.parts.clear();
  job_.loader().load(ids_, at.epoch, batch);
  batch.step = step;
}

}  // namespace lockstep
