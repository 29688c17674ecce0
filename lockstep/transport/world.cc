#include "lockstep/transport/world.h"

namespace lockstep {

template <>
Registry<World>& Registry<World>::instance() {
  static Registry<World> registry("world", "world");
  return registry;
}

OptionSet world_options() {
  OptionSet options;
  options
      .real("timeout", 60,
            "seconds a rank may wait for another before the run ends with a report of who waits "
            "for whom")
      .above(0)
      .at_most(1e9);
  return options;
}

void check_ranks(int ranks, int most, const std::string& what_limits) {
  if (ranks < 1) throw ConfigError("{} ranks asked for; there must be at least 1", ranks);
  if (ranks > most) {
    throw ConfigError("{} ranks asked for, but {} at most {}", ranks, what_limits, most);
  }
}

}  // namespace lockstep
