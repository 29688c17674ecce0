#include "lockstep/train/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/text.h"
#include "lockstep/collective/all_reduce.h"

namespace lockstep {
namespace {

std::string plural(double count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string shard_sizes(const Sampler& sampler) {
  const auto sizes = sampler.shard_sizes();
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  return *least == *most ? fmt::format("{}", *most) : fmt::format("{} to {}", *least, *most);
}

// What one exchange of the model costs; how often there is one, the strategy knows.
std::vector<std::string> exchange(const Job& job, std::size_t parameters) {
  const char* const when = job.traits().every_step ? "sent a step" : "an average";
  if (job.has_server()) {
    return {job.traits().averages ? when : "sent a step",
            fmt::format("{} by each worker to {} shards, and as much back",
                        format_size(parameters * sizeof(float)), job.shards())};
  }
  const Section& aggregate = job.config().at("aggregate");
  const Cost cost = Registry<AllReduce>::instance()
                        .make(aggregate.component(), aggregate.options())
                        ->cost(job.placement().worker_ranks(), parameters);
  return {when, fmt::format("{} by the busiest rank, {} by all ({})", format_size(cost.bytes_most),
                            format_size(cost.bytes_all), aggregate.component())};
}

// Parameters that workers average with each other.
std::size_t largest_part(const Job& job, std::size_t parameters) {
  if (job.parallel() == nullptr) return parameters;
  std::size_t most = 0;
  for (const StageShare& share : job.parallel()->plan().stages) {
    most = std::max(most, share.params.size);
  }
  return most;
}

}  // namespace

std::string describe(const Placement& placement) {
  if (placement.stages > 1) {
    return fmt::format("{} of {} stages", plural(placement.workers, "worker"), placement.stages);
  }
  if (placement.merge == 1) return plural(placement.workers, "worker");
  return fmt::format("{}, computed {} at a time by {}", plural(placement.workers, "worker"),
                     placement.merge, plural(placement.worker_ranks(), "rank"));
}

std::string describe(const Job& job) {
  const Config& config = job.config();
  const auto replica = job.model().make(job.model_settings());
  const std::size_t parameters = replica->params().size();
  const Section& aggregate = config.at("aggregate");
  const StepPlan& plan = job.plan();
  std::vector<std::vector<std::string>> rows{
      {"model", fmt::format("{}: {} parameters in {} layers", config.at("model").chosen(),
                            parameters, replica->layers().size())},
      {"data", fmt::format("{}: {} samples to train, {} to validate, {} to test",
                           job.dataset().name, job.split().train.size(),
                           job.split().validation.size(), job.split().test.size())},
      {"workers", describe(job.placement())},
      {"assignment",
       fmt::format("{}: {} samples a worker, each sample on {}", config.at("assign").component(),
                   shard_sizes(job.sampler()), plural(job.sampler().copies(), "worker"))},
      {"batch", fmt::format("{} a worker, {} in all", job.local_batch(), job.global_batch())},
      {"steps", fmt::format("{} in {:g} epochs, {} in the first", plan.steps(), plan.epochs(),
                            plan.steps_in_epoch(0))},
      {"strategy",
       fmt::format("{}, via {}", config.at("sync").component(), aggregate.own().text("via"))},
      exchange(job, largest_part(job, parameters))};
  if (const Parallel* const parallel = job.parallel()) {
    rows.push_back({"pipeline",
                    fmt::format("{}, micro-batches: {} of {} samples{}",
                                config.at("parallel").component(), parallel->microbatches(),
                                parallel->samples(), parallel->recompute() ? ", recomputed" : "")});
    for (const auto& [stage, text] : describe(parallel->plan())) rows.push_back({stage, text});
    if (parallel->measures()) rows.push_back({"", "the cut by modelled times; training measures"});
  }
  std::string text;
  for (const auto& row : rows) text += fmt::format("{:<12} {}\n", row[0], row[1]);
  for (const auto& remark : replica->remarks()) text += fmt::format("{:<12} {}\n", "note", remark);
  return text;
}

}  // namespace lockstep
