#include "lockstep/server/mean_rule.h"

#include "lockstep/collective/reduce_op.h"

namespace lockstep {

void MeanRule::handle(const ServerHeader& header, std::span<const float> values,
                      const Answer& answer) {
  if (header.kind != kAverage || header.clock < 1 || header.clock > workers_) {
    throw cannot_answer(header);
  }
  if (values.size() != size_) {
    throw CommError("worker {} sent {} values to average where others send {}", header.worker,
                    values.size(), size_);
  }
  const Members group{header.version, header.clock};
  auto& round = rounds_[group];
  const auto [at, fresh] = round.emplace(header.worker, AlignedVector<float>());
  if (!fresh) throw CommError("worker {} sent twice in a round of averaging", header.worker);
  at->second.assign(values.begin(), values.end());
  if (static_cast<std::int64_t>(round.size()) < header.clock) return;

  AlignedVector<float> sum = std::move(round.begin()->second);
  for (auto next = std::next(round.begin()); next != round.end(); ++next) {
    combine(ReduceOp::kSum, sum, next->second);
  }
  finish(Reduction::over(ReduceOp::kMean, static_cast<int>(header.clock)), sum);
  std::vector<int> members;
  for (const auto& [worker, sent] : round) members.push_back(worker);
  answer.to_all(members, {.kind = kAverage, .form = header.form, .epoch = header.epoch}, sum);
  rounds_.erase(group);
}

}  // namespace lockstep
