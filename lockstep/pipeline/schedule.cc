#include "lockstep/pipeline/schedule.h"

namespace lockstep {

template <>
Registry<PipelineSchedule>& Registry<PipelineSchedule>::instance() {
  static Registry<PipelineSchedule> registry("pipeline", "pipeline schedule");
  return registry;
}

void add_forward(int begin, int end, std::vector<PipelineOp>& operations) {
  for (int i = begin; i < end; ++i) operations.push_back({PipelineOp::Kind::kForward, i});
}

void add_backward(int begin, int end, std::vector<PipelineOp>& operations) {
  for (int i = begin; i < end; ++i) operations.push_back({PipelineOp::Kind::kBackward, i});
}

}  // namespace lockstep
