#include "lockstep/pipeline/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep {

std::size_t Devices::fastest() const {
  return static_cast<std::size_t>(std::ranges::max_element(all, {}, &Device::speed) - all.begin());
}

Devices devices_of(const ClusterDescription& cluster) {
  constexpr int kMostDevices = 1024;
  constexpr double kSlowest = 1e-9;
  if (cluster.hosts < 1 || cluster.hosts > kMostDevices) {
    throw ConfigError("{}: there must be 1 to {} hosts to place operators on: hosts = 4",
                      cluster.name, kMostDevices);
  }
  Devices devices;
  for (int i = 0; i < cluster.hosts; ++i) {
    const double speed = cluster.speed / cluster.slowdown(i);
    if (!(speed >= kSlowest && speed <= 1 / kSlowest)) {
      throw ConfigError("{}: host {} has the speed {:g}; it must be from {:g} to {:g}",
                        cluster.name, i, speed, kSlowest, 1 / kSlowest);
    }
    devices.all.push_back({fmt::format("host {}", i), speed, cluster.memory_of(i)});
    std::vector<ClusterDescription::Way> row;
    for (int j = 0; j < cluster.hosts; ++j) row.push_back(cluster.way(i, j));
    devices.ways.push_back(std::move(row));
  }
  return devices;
}

}  // namespace lockstep
