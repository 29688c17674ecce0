// Barrier: a meeting where memory is shared; elsewhere dissemination (Hensgen et al. 1988): in
// round k everybody tells the member 2^k ahead, so after ⌈log2 M⌉ rounds all have heard of all.
#include <array>

#include "lockstep/collective/collectives.h"
#include "lockstep/collective/tree.h"

namespace lockstep {

void barrier(Group& group) {
  if (group.size() == 1) return;
  const Operation operation(group.transport(), "barrier");
  if (SharedSpace* space = group.shared()) {
    space->meet({});
    return;
  }
  const int m = group.size(), rounds = tree_levels(m);
  for (int k = 0; k < rounds; ++k) {
    group.step("tell", k, rounds);
    const int distance = 1 << k;
    const std::array<std::byte, 1> word{};
    std::array<std::byte, 1> heard{};
    Outgoing sending = group.send_bytes((group.index() + distance) % m, word);
    group.receive_bytes((group.index() - distance + m) % m, heard);
    sending.wait();
  }
}

}  // namespace lockstep
