#include "lockstep/pipeline/schedule.h"

#include <algorithm>

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

int peak_activations(const std::vector<PipelineOp>& operations) {
  int kept = 0, peak = 0;
  for (const PipelineOp& op : operations) {
    kept += op.kind == PipelineOp::Kind::kForward ? 1 : -1;
    peak = std::max(peak, kept);
  }
  return peak;
}

}  // namespace lockstep
