#include "lockstep/train/seat.h"

#include <numeric>

#include "lockstep/collective/collectives.h"
#include "lockstep/pipeline/unit_times.h"
#include "lockstep/train/common_start.h"
#include "lockstep/train/everyone.h"

namespace lockstep {
namespace {

constexpr Tag kTrainersTag = 49;

// All measure the units, the first rank and the first one of the next stage the way between them.
// Equal numbers give equal plans, so nobody needs to be told.
StagePlan settle_plan(Group& trainers, const Job& job, int workers) {
  const Parallel& parallel = *job.parallel();
  if (!parallel.measures()) return parallel.plan();
  Transport& transport = trainers.transport();
  const Operation operation(transport, "measuring where to cut the model");
  LinkTimes link;
  if (transport.rank() == 0) link = measure_hop(transport, workers, true);
  if (transport.rank() == workers) measure_hop(transport, 0, false);
  float told[] = {static_cast<float>(link.latency), static_cast<float>(link.bytes_per_second)};
  broadcast(trainers, told, 0);
  const auto times = measure_units(trainers, job.model(), settings_for(transport, job),
                                   parallel.units(), parallel.samples());
  return parallel.plan(times, {told[0], told[1]});
}

}  // namespace

std::vector<int> first_ranks(int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

Seat::Seat(Transport& whole, const Job& job)
    : whole_(whole),
      workers_(job.placement().worker_ranks()),
      stages_(job.placement().stages),
      stage_(whole.rank() / workers_),
      trainers_(whole, first_ranks(job.placement().training_ranks()), kTrainersTag) {
  if (stages_ == 1) return;
  Group everyone = group_of_everyone(whole);
  agree_on_run(everyone, job, job.parallel()->plan().params);
  peers_.emplace(whole, stage_ * workers_, workers_);
  plan_ = settle_plan(trainers_, job, workers_);
}

Transport& Seat::peers() {
  if (peers_) return *peers_;
  return whole_;
}

int Seat::rank_of(int stage) const {
  return stage < 0 || stage >= stages_ ? -1 : stage * workers_ + whole_.rank() % workers_;
}

const StageShare& Seat::share() const {
  return plan_->stages[static_cast<std::size_t>(stage_)];
}

}  // namespace lockstep
