// A world starts ranks and joins them: threads of this process, processes that mpirun started, or
// actors of a simulator.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lockstep/base/registry.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

using RankBody = std::function<void(Transport&)>;

class World {
 public:
  virtual ~World() = default;

  // Runs `body` on ranks 0 … ranks−1 and returns when all are done. If one fails, the others end
  // too, and the error of the one that failed first is thrown: any Error but a CommError as it
  // is, anything else as a CommError that says what every rank was doing.
  // On mpi this process runs its own rank only, or none if it is beyond `ranks`.
  virtual void run(int ranks, const RankBody& body) = 0;

  virtual int most_ranks() const = 0;                        // how many ranks it can run
  virtual bool leads() const { return true; }                // does this process speak to the user?
  virtual int ranks_here(int ranks) const { return ranks; }  // of a run, those on this machine
  virtual bool simulated() const { return false; }
  virtual std::string describe(int ranks) const = 0;  // "4 threads on 2 cores": a user reads it
};

template <>
Registry<World>& Registry<World>::instance();

// The option every world has.
OptionSet world_options();

// Throws a ConfigError unless 1 ≤ ranks ≤ most.
void check_ranks(int ranks, int most, const std::string& what_limits);

}  // namespace lockstep
