// GPipe (Huang et al., arXiv:1811.06965): all micro-batches forward, then all of them back. Idle is
// (k−1)/(m+k−1) of the time with k stages and m micro-batches, and a stage keeps the activations of
// all m.
#include "lockstep/pipeline/schedule.h"

namespace lockstep {
namespace {

class GPipe : public PipelineSchedule {
 public:
  std::vector<PipelineOp> operations(int, int, int microbatches) const override {
    std::vector<PipelineOp> all;
    add_forward(0, microbatches, all);
    add_backward(0, microbatches, all);
    return all;
  }
};

const Registration<PipelineSchedule> kGPipe{
    "gpipe",
    "All micro-batches forward, then all back; keeps the activations of all.",
    {},
    [](const Options&) { return std::make_unique<GPipe>(); }};

}  // namespace
}  // namespace lockstep
