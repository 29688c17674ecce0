#include "lockstep/sync/centre.h"

#include <algorithm>

namespace lockstep {

double pull_of(double option, double share, int workers) {
  return option < 0 ? share / workers : option;
}

void show_centre(SyncStep& step, std::span<const float> centre) {
  std::ranges::copy(centre, step.replica.params().begin());
  if (!step.replica.buffers().empty()) step.communicator.average(step.replica.buffers());
  step.replica.apply_update();
}

}  // namespace lockstep
