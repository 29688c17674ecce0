#include "lockstep/train/start_line.h"

#include <algorithm>
#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/collective/collectives.h"

namespace lockstep {
namespace {

constexpr double kApart = 1e-6;  // seconds; far above the rounding of the clock

// When a member came to the line, and how long it took the group to tell each other something.
struct Arrival {
  double at = 0, took = 0;
};

}  // namespace

void line_up(Group& group) {
  Transport& transport = group.transport();
  const double began = transport.now();
  barrier(group);
  const Arrival mine{transport.now(), transport.now() - began};
  Arrival latest;
  for (const auto& bytes : all_gather_bytes(group, std::as_bytes(std::span(&mine, 1)))) {
    Arrival theirs;
    if (bytes.size() != sizeof theirs) throw CommError("a rank sent a time of another size");
    std::memcpy(&theirs, bytes.data(), sizeof theirs);
    latest.at = std::max(latest.at, theirs.at);
    latest.took = std::max(latest.took, theirs.took);
  }
  // Long enough for everybody to have heard: a barrier takes some rounds of messages, gathering as
  // many as there are members, there and back.
  const double hops = 10 + 2.0 * group.size();
  const double start = latest.at + 1e-3 + hops * latest.took + kApart * group.index();
  transport.pause(start - transport.now());
}

}  // namespace lockstep
