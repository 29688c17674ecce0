// What operators can be placed on, and the ways between.
#pragma once

#include <string>
#include <vector>

#include "lockstep/transport/cluster_file.h"

namespace lockstep {

struct Device {
  std::string name;
  double speed = 1;
  double memory = 0;  // bytes; 0: any

  bool holds(double bytes) const { return memory <= 0 || bytes <= memory; }
};

struct Devices {
  std::vector<Device> all;
  std::vector<std::vector<ClusterDescription::Way>> ways;  // from, to

  std::size_t size() const { return all.size(); }
  std::size_t fastest() const;
};

// The hosts of a cluster. A ConfigError if it does not say how many there are.
Devices devices_of(const ClusterDescription& cluster);

}  // namespace lockstep
