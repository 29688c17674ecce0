// The description of a cluster: hosts, the network between them, and how they misbehave. The sim
// world builds it, planners read it. docs/cluster-files.md shows the format; this file has no
// simulator in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

inline constexpr int kMostHosts = 65536;

enum class Topology { kStar, kFatTree, kTorus, kTwoLevel };
const char* topology_name(Topology topology);

// All numbers are in bytes, seconds and their quotients.
struct ClusterDescription {
  std::string name = "the default cluster";  // the file, for messages
  Topology topology = Topology::kStar;
  int hosts = 0;           // 0: a star with a host a rank
  int ranks_per_host = 0;  // 0: rank i runs on host i mod hosts; n: on host i / n
  double speed = 1;        // of a host, 1 being the machine where compute seconds were measured

  // Star: of a host's link, and from host to host. Fat tree and torus: of each cable.
  double bandwidth = 125e6;
  double latency = 50e-6;
  double backbone = 0;  // star: what all hosts share; 0: a switch that never is the bottleneck

  std::vector<int> dims;              // torus
  std::vector<int> down, up, cables;  // fat tree, from the hosts' level upwards

  int machines = 0, per_machine = 0;  // two-level: hosts are numbered machine by machine
  double inside_bandwidth = 0, inside_latency = 0;
  double between_bandwidth = 0, between_latency = 0;

  struct Slow {
    int host;
    double factor;  // its computation takes this many times as long
  };
  std::vector<Slow> slow;

  // For planners that place parts of a model; 0: as much as they like.
  double memory = 0;  // of a host, in bytes
  struct HostMemory {
    int host;
    double bytes;
  };
  std::vector<HostMemory> memories;  // of hosts that have another

  struct Stragglers {
    double probability = 0;  // that one piece of computation is slowed
    double factor = 1;
    std::uint64_t seed = 1;
  } stragglers;

  int hosts_for(int ranks) const;  // how many hosts there are when that many ranks run
  // Which host a rank runs on, and which machine that is in: the host itself but in two-level.
  int host_of_rank(int rank, int ranks) const;
  int machine_of_host(int host) const;
  double slowdown(int host) const;
  double memory_of(int host) const;
  // The way of a message that is alone on it: its latency, and the bytes a second of its narrowest
  // link. From one host to another.
  struct Way {
    double latency, bandwidth;
  };
  Way way(int from, int to) const;
  int most_ranks() const;

  std::string summary(int ranks) const;  // "star of 16 hosts, 125 MB/s, 50.0 us"
};

// ConfigErrors name file, line and key, and say what is allowed.
ClusterDescription load_cluster(const std::string& path);
ClusterDescription parse_cluster(std::string_view text, const std::string& name);

// "1Gbit/s", "125MB/s" or a plain number of bytes a second; "50us" or a plain number of seconds.
// `what` names it in the error.
double parse_bandwidth(std::string_view text, const std::string& what);
double parse_latency(std::string_view text, const std::string& what);

}  // namespace lockstep
