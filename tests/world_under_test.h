// The world a law is tested on: threads unless LOCKSTEP_TEST_WORLD says sim or mpi.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "lockstep/transport/world.h"

namespace lockstep {

inline std::string world_under_test_name() {
  const char* name = std::getenv("LOCKSTEP_TEST_WORLD");
  return name == nullptr ? "threads" : name;
}

// A fresh one for each call; `timeout` in seconds of that world.
inline std::unique_ptr<World> world_under_test(double timeout = 60) {
  auto& registry = Registry<World>::instance();
  Options options = registry.options(world_under_test_name());
  options.set_value("timeout", timeout);
  return registry.make(world_under_test_name(), options);
}

// The world under test where it can run that many ranks, else threads.
inline std::unique_ptr<World> world_with_room_for(int ranks) {
  auto world = world_under_test();
  return ranks <= world->most_ranks() ? std::move(world)
                                      : Registry<World>::instance().make("threads");
}

// Those of `counts` that the world can run: mpirun has fixed how many there are.
inline std::vector<int> ranks_under_test(std::vector<int> counts) {
  const int most = world_under_test()->most_ranks();
  std::erase_if(counts, [&](int ranks) { return ranks > most; });
  return counts;
}

}  // namespace lockstep
