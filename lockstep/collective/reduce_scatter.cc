// Reduce-scatter: the first half of the ring, with the chunks named so that each member ends with
// the one of its own number.
#include "lockstep/collective/collectives.h"
#include "lockstep/collective/ring.h"

namespace lockstep {

Range reduce_scatter(Group& group, std::span<float> data, ReduceOp op) {
  if (group.size() > 1) {
    const Operation operation(group.transport(), "reduce-scatter");
    ring_share_reduce(group, data, Reduction::over(op, group.size()), -1);
  }
  return chunk(data.size(), group.size(), group.index());
}

}  // namespace lockstep
