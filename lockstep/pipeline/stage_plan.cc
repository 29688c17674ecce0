#include "lockstep/pipeline/stage_plan.h"

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {

std::vector<UnitTimes> modelled_times(const std::vector<ModelUnit>& units, std::size_t samples) {
  std::vector<UnitTimes> times;
  for (const ModelUnit& unit : units) {
    const double forward = unit.forward_seconds * static_cast<double>(samples);
    times.push_back({forward, 2 * forward});
  }
  return times;
}

CutProblem cut_problem(const std::vector<ModelUnit>& units, const StageDemands& demands,
                       const std::vector<UnitTimes>& times, const LinkTimes& link) {
  LOCKSTEP_CHECK(times.size() == units.size(), "times of {} of {} units", times.size(),
                 units.size());
  const double bytes = sizeof(float) * static_cast<double>(demands.samples);
  CutProblem problem;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const ModelUnit& unit = units[i];
    problem.layers.push_back(
        {unit.name, times[i].forward, times[i].backward,
         bytes * static_cast<double>(unit.out_values),
         bytes * static_cast<double>(unit.kept_values),
         sizeof(float) * demands.state_vectors * static_cast<double>(unit.params)});
  }
  problem.latency = link.latency;
  problem.bytes_per_second = link.bytes_per_second;
  problem.memory = demands.memory;
  problem.recompute = demands.recompute;
  return problem;
}

std::vector<int> in_flight(const PipelineSchedule& schedule, int stages, int microbatches) {
  std::vector<int> kept;
  for (int stage = 0; stage < stages; ++stage) {
    kept.push_back(peak_activations(schedule.operations(stage, stages, microbatches)));
  }
  return kept;
}

int fewest_stages(const CutProblem& problem, const PipelineSchedule& schedule, int microbatches) {
  for (int stages = 1; stages <= static_cast<int>(problem.layers.size()); ++stages) {
    const Cut cut = best_cut(problem, in_flight(schedule, stages, microbatches));
    if (!cut.stages.empty()) return stages;
  }
  return 0;
}

std::vector<std::size_t> ends_at(const std::vector<std::string>& names,
                                 const std::vector<ModelUnit>& units) {
  std::vector<std::string> valid;
  for (std::size_t i = 1; i < units.size(); ++i) valid.push_back(units[i].name);
  std::vector<std::size_t> ends;
  for (const std::string& name : names) {
    std::size_t at = 1;
    while (at < units.size() && units[at].name != name) ++at;
    if (at == units.size()) {
      throw ConfigError("[parallel] cuts: {}", unknown_name("unit", name, valid));
    }
    if (!ends.empty() && at <= ends.back()) {
      throw ConfigError("[parallel] cuts: \"{}\" does not come behind \"{}\" in the network", name,
                        units[ends.back()].name);
    }
    ends.push_back(at);
  }
  ends.push_back(units.size());
  return ends;
}

StagePlan plan_of(const Cut& cut, const std::vector<ModelUnit>& units) {
  StagePlan plan;
  for (const StageEstimate& estimate : cut.stages) {
    StageShare share{{estimate.begin, estimate.end - estimate.begin},
                     {plan.params, 0},
                     {plan.buffers, 0},
                     units[estimate.begin].name,
                     units[estimate.end - 1].name,
                     estimate};
    for (std::size_t i = estimate.begin; i < estimate.end; ++i) {
      share.params.size += units[i].params;
      share.buffers.size += units[i].buffers;
    }
    plan.params = share.params.end();
    plan.buffers = share.buffers.end();
    plan.stages.push_back(std::move(share));
  }
  return plan;
}

}  // namespace lockstep
