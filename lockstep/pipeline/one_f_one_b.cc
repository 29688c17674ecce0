// 1F1B (PipeDream-Flush: Narayanan et al., arXiv:2006.09503; Megatron-LM, arXiv:2104.04473): as
// soon as the last stage has a micro-batch forward it takes it back, and then every stage does one
// backward for each forward. Idle as GPipe's, but stage s of k keeps at most k − s micro-batches
// instead of all.
#include <algorithm>

#include "lockstep/pipeline/schedule.h"

namespace lockstep {
namespace {

class OneForwardOneBackward : public PipelineSchedule {
 public:
  std::vector<PipelineOp> operations(int stage, int stages, int microbatches) const override {
    const int ahead = std::min(stages - 1 - stage, microbatches);
    std::vector<PipelineOp> all;
    add_forward(0, ahead, all);
    for (int i = 0; i + ahead < microbatches; ++i) {
      add_forward(i + ahead, i + ahead + 1, all);
      add_backward(i, i + 1, all);
    }
    add_backward(microbatches - ahead, microbatches, all);
    return all;
  }
};

const Registration<PipelineSchedule> kOneForwardOneBackward{
    "1f1b",
    "One backward for every forward once the pipe is full; keeps few activations.",
    {},
    [](const Options&) { return std::make_unique<OneForwardOneBackward>(); }};

}  // namespace
}  // namespace lockstep
