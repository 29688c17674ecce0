// SimGrid's engine with a cluster built into it, for one run. SimGrid allows one engine at a time
// in a process; this one is shut down when it goes, so that the next run can have its own.
#pragma once

#include <memory>
#include <vector>

#include <simgrid/s4u.hpp>

#include "lockstep/transport/cluster_file.h"

namespace lockstep {

class SimPlatform {
 public:
  SimPlatform(const ClusterDescription& cluster, int ranks);
  SimPlatform(const SimPlatform&) = delete;
  SimPlatform& operator=(const SimPlatform&) = delete;

  simgrid::s4u::Host* host(int index) const { return hosts_[static_cast<std::size_t>(index)]; }
  double now() const { return simgrid::s4u::Engine::get_clock() - began_; }
  double began() const { return began_; }  // now() + began() is SimGrid's clock
  void run();                              // until all actors have ended

 private:
  std::unique_ptr<simgrid::s4u::Engine> engine_;
  std::vector<simgrid::s4u::Host*> hosts_;
  double began_ = 0;
};

}  // namespace lockstep
