// Gather: everybody sends straight to the root, which would have to receive it all in any scheme.
#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/collective/collectives.h"

namespace lockstep {

void gather(Group& group, std::span<const float> mine, std::span<float> all, int root) {
  LOCKSTEP_CHECK(root >= 0 && root < group.size(), "root {} of {} members", root, group.size());
  const Operation operation(group.transport(), "gather");
  group.step("to the root", 0, 1);
  if (group.index() != root) {
    group.send(root, mine).wait();
    return;
  }
  if (mine.empty()) return;
  LOCKSTEP_CHECK(all.size() == mine.size() * static_cast<std::size_t>(group.size()),
                 "room for {} floats, not {} times {}", all.size(), group.size(), mine.size());
  for (int i = 0; i < group.size(); ++i) {
    const auto place = all.subspan(static_cast<std::size_t>(i) * mine.size(), mine.size());
    if (i != root)
      group.receive(i, place);
    else
      std::memcpy(place.data(), mine.data(), place.size_bytes());
  }
}

}  // namespace lockstep
