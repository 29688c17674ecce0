// Reduce: up a binomial tree, in pieces.
#include "lockstep/base/error.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/collective/tree.h"

namespace lockstep {

void reduce(Group& group, std::span<float> data, ReduceOp op, int root) {
  LOCKSTEP_CHECK(root >= 0 && root < group.size(), "root {} of {} members", root, group.size());
  if (group.size() == 1) return;
  const Operation operation(group.transport(), "reduce");
  tree_reduce(group, data, Reduction::over(op, group.size()), root);
}

}  // namespace lockstep
