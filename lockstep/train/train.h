// Training from a configuration, for the program and for programs of users:
//
//   Config config;
//   config.read_file("run.toml");
//   const auto world = make_world(config);
//   const TrainResult result = train(*world, {.config = config, .out = "runs/mine"});
#pragma once

#include <memory>
#include <string>

#include "lockstep/train/worker.h"
#include "lockstep/transport/world.h"

namespace lockstep {

struct TrainRequest {
  Config config;
  Ingredients ingredients;  // what is not in the configuration: own models, own data
  std::string out;          // the run's directory; empty: the next free one under runs/
  bool resume = false;      // go on with the run that is there
  std::string replay;       // a run whose order of arrivals is to be repeated
  bool quiet = false;       // nothing on the terminal
};

// The world that [cluster] names. Without a name: threads.
std::unique_ptr<World> make_world(const Config& config);

// How many ranks the world has to offer where that is fixed (mpirun), else 0.
int ranks_given(const World& world, const Config& config);

// Trains and leaves a run directory behind. Throws what went wrong (lockstep/base/error.h).
TrainResult train(World& world, const TrainRequest& request);

}  // namespace lockstep
