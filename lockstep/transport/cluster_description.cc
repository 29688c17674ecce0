// What follows from a cluster description, and the units its numbers are written in.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/transport/cluster_file.h"

namespace lockstep {
namespace {

using Unit = std::pair<std::string_view, double>;

// Decimal prefixes, as networks use them; the binary ones are spelled out.
constexpr std::array kBandwidthUnits = {
    Unit{"bit/s", 1.0 / 8},     Unit{"kbit/s", 1e3 / 8},  Unit{"Mbit/s", 1e6 / 8},
    Unit{"Gbit/s", 1e9 / 8},    Unit{"Tbit/s", 1e12 / 8}, Unit{"B/s", 1.0},
    Unit{"kB/s", 1e3},          Unit{"MB/s", 1e6},        Unit{"GB/s", 1e9},
    Unit{"TB/s", 1e12},         Unit{"KiB/s", 1024.0},    Unit{"MiB/s", 1048576.0},
    Unit{"GiB/s", 1073741824.0}};
constexpr std::array kLatencyUnits = {Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"µs", 1e-6},
                                      Unit{"ms", 1e-3}, Unit{"s", 1.0}};

template <std::size_t N>
double parse_quantity(std::string_view text, const std::string& what,
                      const std::array<Unit, N>& units, const char* example) {
  const std::string clean = trim(text);
  const std::size_t digits = std::min(clean.find_first_not_of("+-0123456789.eE"), clean.size());
  const std::string unit = trim(std::string_view(clean).substr(digits));
  double scale = unit.empty() ? 1 : 0;
  std::string known;
  for (const auto& [name, value] : units) {
    if (unit == name) scale = value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  if (digits == 0 || scale == 0) {
    throw ConfigError(
        "{} = \"{}\" is not understood; write a number and a unit such as \"{}\" (units: {})", what,
        clean, example, known);
  }
  return parse_real(std::string_view(clean).substr(0, digits), what) * scale;
}

std::string rate_text(double bytes_per_second) {
  if (bytes_per_second >= 1e9) return fmt::format("{:g} GB/s", bytes_per_second / 1e9);
  if (bytes_per_second >= 1e6) return fmt::format("{:g} MB/s", bytes_per_second / 1e6);
  return fmt::format("{:g} kB/s", bytes_per_second / 1e3);
}

}  // namespace

double parse_bandwidth(std::string_view text, const std::string& what) {
  return parse_quantity(text, what, kBandwidthUnits, "1Gbit/s");
}

double parse_latency(std::string_view text, const std::string& what) {
  return parse_quantity(text, what, kLatencyUnits, "50us");
}

const char* topology_name(Topology topology) {
  switch (topology) {
    case Topology::kStar:
      return "star";
    case Topology::kFatTree:
      return "fat-tree";
    case Topology::kTorus:
      return "torus";
    case Topology::kTwoLevel:
      return "two-level";
  }
  return "";
}

int ClusterDescription::hosts_for(int ranks) const {
  if (hosts > 0) return hosts;
  return ranks_per_host > 0 ? (ranks + ranks_per_host - 1) / ranks_per_host : ranks;
}

int ClusterDescription::host_of_rank(int rank, int ranks) const {
  return ranks_per_host > 0 ? rank / ranks_per_host : rank % hosts_for(ranks);
}

int ClusterDescription::machine_of_host(int host) const {
  return topology == Topology::kTwoLevel ? host / per_machine : host;
}

double ClusterDescription::slowdown(int host) const {
  for (const Slow& entry : slow) {
    if (entry.host == host) return entry.factor;
  }
  return 1;
}

double ClusterDescription::memory_of(int host) const {
  for (const HostMemory& one : memories) {
    if (one.host == host) return one.bytes;
  }
  return memory;
}

ClusterDescription::Way ClusterDescription::way(int from, int to) const {
  int crossed = 0;  // cables
  switch (topology) {
    case Topology::kStar:
      return {latency, backbone > 0 ? std::min(bandwidth, backbone) : bandwidth};
    case Topology::kTwoLevel:
      return machine_of_host(from) == machine_of_host(to)
                 ? Way{inside_latency, inside_bandwidth}
                 : Way{between_latency, std::min(inside_bandwidth, between_bandwidth)};
    case Topology::kTorus:
      for (const int size : dims) {
        const int apart = std::abs(from % size - to % size);
        crossed += std::min(apart, size - apart);
        from /= size;
        to /= size;
      }
      break;
    case Topology::kFatTree:  // up to the first switch that has both below it, and down
      for (std::size_t level = 0; level < down.size() && from != to; ++level) {
        from /= down[level];
        to /= down[level];
        crossed += 2;
      }
      break;
  }
  return {crossed * latency, bandwidth};
}

int ClusterDescription::most_ranks() const {
  if (hosts == 0 || ranks_per_host == 0) return kMostHosts;
  return static_cast<int>(std::min<std::int64_t>(std::int64_t{hosts} * ranks_per_host, kMostHosts));
}

std::string ClusterDescription::summary(int ranks) const {
  const int count = hosts_for(ranks);
  if (topology == Topology::kTwoLevel) {
    return fmt::format("cluster of {} machines of {} hosts, {} and {} inside, {} and {} between",
                       machines, per_machine, rate_text(inside_bandwidth),
                       format_seconds(inside_latency), rate_text(between_bandwidth),
                       format_seconds(between_latency));
  }
  return fmt::format("{} of {} host{}, {}, {}", topology_name(topology), count,
                     count == 1 ? "" : "s", rate_text(bandwidth), format_seconds(latency));
}

}  // namespace lockstep
