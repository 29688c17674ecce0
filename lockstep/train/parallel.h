// [parallel]: a model in stages, each on ranks of its own. What follows from the configuration
// alone; where the cuts are may have to be measured first (seat.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lockstep/model/replica.h"
#include "lockstep/pipeline/stage_plan.h"
#include "lockstep/sync/strategy.h"
#include "lockstep/train/config.h"

namespace lockstep {

OptionSet parallel_options();

// Into how many stages the configuration cuts the model; 1: into none.
int stages_of(const Config& config);
// Workers that train the whole model, each of that many ranks. A ConfigError if they do not divide.
int replicas_of(const Config& config);

class Parallel {
 public:
  // `largest_batch` of a worker. A ConfigError says what they do not go together with,
  // and what would fit.
  Parallel(const Config& config, const ModelKind& model, const ModelSettings& settings,
           const SyncTraits& traits, std::size_t largest_batch, double state_vectors);

  int stages() const { return stages_; }
  int microbatches() const { return microbatches_; }
  bool recompute() const { return demands_.recompute; }
  std::size_t samples() const { return demands_.samples; }  // of a micro-batch
  const std::vector<ModelUnit>& units() const { return units_; }
  std::unique_ptr<PipelineSchedule> make_schedule() const;

  bool measures() const { return cuts_.empty(); }  // or does the configuration say where to cut?
  StagePlan plan(const std::vector<UnitTimes>& times, const LinkTimes& link) const;
  StagePlan plan() const;  // as modelled
  // As [parallel] cuts names them.
  std::vector<std::string> names_of(const StagePlan& plan) const;

 private:
  void check_messages() const;
  void check_memory() const;
  CutProblem problem(const std::vector<UnitTimes>& times, const LinkTimes& link) const {
    return cut_problem(units_, demands_, times, link);
  }
  std::vector<int> kept() const;

  std::string schedule_;
  int stages_, microbatches_ = 1;
  StageDemands demands_;
  std::vector<ModelUnit> units_;
  std::vector<std::size_t> cuts_;  // ends of stages; empty: to be found
};

// A line a stage: what it holds, and what it is expected to take.
struct StageLine {
  std::string stage, text;  // "stage 0"
};
std::vector<StageLine> describe(const StagePlan& plan);

}  // namespace lockstep
