// Broadcast: down a binomial tree, in pieces.
#include "lockstep/base/error.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/collective/tree.h"

namespace lockstep {

void broadcast(Group& group, std::span<float> data, int root) {
  LOCKSTEP_CHECK(root >= 0 && root < group.size(), "root {} of {} members", root, group.size());
  if (group.size() == 1) return;
  const Operation operation(group.transport(), "broadcast");
  tree_broadcast(group, data, root);
}

}  // namespace lockstep
