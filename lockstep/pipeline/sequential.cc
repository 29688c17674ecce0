// Plain model parallelism: one micro-batch at a time goes all the way forward and all the way back,
// so one stage works and the others wait: of k stages 1 − 1/k of the time is idle.
#include "lockstep/pipeline/schedule.h"

namespace lockstep {
namespace {

class Sequential : public PipelineSchedule {
 public:
  std::vector<PipelineOp> operations(int, int, int microbatches) const override {
    std::vector<PipelineOp> all;
    for (int i = 0; i < microbatches; ++i) {
      add_forward(i, i + 1, all);
      add_backward(i, i + 1, all);
    }
    return all;
  }
};

const Registration<PipelineSchedule> kSequential{
    "sequential",
    "One micro-batch at a time, forward and back: plain model parallelism.",
    {},
    [](const Options&) { return std::make_unique<Sequential>(); }};

}  // namespace
}  // namespace lockstep
