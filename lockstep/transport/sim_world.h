// The sim world without its registry: for planners and tests that have a description at hand.
#pragma once

#include <memory>

#include "lockstep/transport/cluster_file.h"
#include "lockstep/transport/world.h"

namespace lockstep {

std::unique_ptr<World> make_sim_world(ClusterDescription cluster, double timeout = 60);

}  // namespace lockstep
