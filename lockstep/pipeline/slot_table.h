// When each stage of a pipeline does what, if operations take given times: an operation begins as
// soon as its stage is free and what it needs has arrived.
#pragma once

#include <string>
#include <vector>

#include "lockstep/pipeline/schedule.h"

namespace lockstep {

// Of one micro-batch, in any unit of time.
struct StageTimes {
  double forward = 1, backward = 1;
  double send_next = 0;  // activations to the next stage, or their gradients back from it
};

struct Slot {
  PipelineOp op;
  double begin = 0, end = 0;
};

struct SlotTable {
  std::vector<std::vector<Slot>> stages;
  std::vector<int> peak_activations;  // micro-batches that a stage has forward and not yet back
  double makespan = 0;

  // Of all stages together, from the first begin to the last end.
  double idle_share() const;
};

// A schedule that waits for itself is an InternalError that names the stage.
SlotTable slot_table(const PipelineSchedule& schedule, int microbatches,
                     const std::vector<StageTimes>& times);

// (k−1)/(m+k−1): what gpipe and 1f1b idle with equal stages and no time for messages.
double ideal_idle_share(int stages, int microbatches);

// Rows of stages, columns of unit times: "F0 F1 .. B0". Times must be whole numbers. After
// `most_slots` columns there is an ellipsis.
std::string to_text(const SlotTable& table, std::size_t most_slots = 100);

}  // namespace lockstep
