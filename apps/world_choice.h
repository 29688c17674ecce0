// Which world a command runs on: the flags, their checks, and the world itself.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "lockstep/transport/world.h"

namespace lockstep {

struct WorldChoice {
  std::string name;  // empty: mpi when started by mpirun, else threads
  std::string cluster_file;
  double timeout = 60;
};

void add_world_options(CLI::App& command, WorldChoice& choice);

// Settles the name, and throws ConfigErrors: unknown, not in this build, not what mpirun started.
void settle_world(WorldChoice& choice);
std::unique_ptr<World> make_world(const WorldChoice& choice);

}  // namespace lockstep
