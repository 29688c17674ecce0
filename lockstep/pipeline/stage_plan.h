// How a model is shared out over the stages of a pipeline: from its units to a problem of cutting
// (cut.h), and from a cut to what each stage holds of the whole model's vectors.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/range.h"
#include "lockstep/model/stage.h"
#include "lockstep/pipeline/cut.h"
#include "lockstep/pipeline/schedule.h"

namespace lockstep {

// What stages are planned for.
struct StageDemands {
  std::size_t samples = 1;   // of a micro-batch
  double state_vectors = 2;  // as long as the parameters, with them: gradients, the optimizer's
  double memory = 0;         // bytes of a stage; 0: any
  bool recompute = false;
};

// Of one micro-batch.
struct UnitTimes {
  double forward = 0, backward = 0;
};

struct LinkTimes {
  double latency = 0, bytes_per_second = 0;  // 0 bytes a second: free
};

struct StageShare {
  Range units, params, buffers;  // of the whole model
  std::string first, last;       // names of units
  StageEstimate estimate;
};

struct StagePlan {
  std::vector<StageShare> stages;
  std::size_t params = 0, buffers = 0;  // of the whole model
};

// As the modelled seconds have it.
std::vector<UnitTimes> modelled_times(const std::vector<ModelUnit>& units, std::size_t samples);

CutProblem cut_problem(const std::vector<ModelUnit>& units, const StageDemands& demands,
                       const std::vector<UnitTimes>& times, const LinkTimes& link);

// Micro-batches that each stage keeps at a time.
std::vector<int> in_flight(const PipelineSchedule& schedule, int stages, int microbatches);

// The fewest stages that all fit the memory; 0: there are none.
int fewest_stages(const CutProblem& problem, const PipelineSchedule& schedule, int microbatches);

// Before which units stages end: each of `names` begins the next stage. A ConfigError if one is no
// unit, or they are not in order.
std::vector<std::size_t> ends_at(const std::vector<std::string>& names,
                                 const std::vector<ModelUnit>& units);

StagePlan plan_of(const Cut& cut, const std::vector<ModelUnit>& units);

}  // namespace lockstep
