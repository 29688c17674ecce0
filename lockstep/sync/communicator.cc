#include "lockstep/sync/communicator.h"

namespace lockstep {

void Communicator::average(std::span<float> values) {
  algorithm_.run(group_, values, ReduceOp::kMean);
  bytes_sent_ += algorithm_.cost(group_.size(), values.size()).bytes_most;
}

}  // namespace lockstep
