// The order in which a stage of a pipeline works: as data, for whoever runs it, prices it or prints
// it. A minibatch is split into micro-batches; each goes forward through all stages and back.
#pragma once

#include <vector>

#include "lockstep/base/registry.h"

namespace lockstep {

struct PipelineOp {
  enum class Kind { kForward, kBackward };
  Kind kind = Kind::kForward;
  int microbatch = 0;
  bool operator==(const PipelineOp&) const = default;
};

class PipelineSchedule {
 public:
  virtual ~PipelineSchedule() = default;
  // What stage `stage` of `stages` does for one minibatch: every micro-batch forward and, later,
  // backward, once each. Backwards come in the same order in every stage, so that sums of gradients
  // round alike.
  virtual std::vector<PipelineOp> operations(int stage, int stages, int microbatches) const = 0;
};

template <>
Registry<PipelineSchedule>& Registry<PipelineSchedule>::instance();

// Forward of micro-batches [begin, end), or backward of them, appended.
void add_forward(int begin, int end, std::vector<PipelineOp>& operations);
void add_backward(int begin, int end, std::vector<PipelineOp>& operations);

// Micro-batches that a stage has forward and not yet back, at most.
int peak_activations(const std::vector<PipelineOp>& operations);

}  // namespace lockstep
