// Reads a cluster file: every key is known, has the right type and a value that can be built, or
// the error names the line.
#include "lockstep/transport/cluster_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/text.h"
#include "lockstep/transport/cluster_reader.h"

namespace lockstep {
namespace {

constexpr int kMostLinks = 1 << 20;
constexpr double kSlowest = 1e9;  // factor of a slow host
constexpr double kLimit = 1e9;    // of a host's speed

int product(const std::vector<int>& factors, const std::string& where) {
  std::int64_t total = 1;
  for (int factor : factors) {
    total *= factor;
    if (total > kMostHosts) throw ConfigError("{} makes more than {} hosts", where, kMostHosts);
  }
  return static_cast<int>(total);
}

// The hosts that the shape implies; a `hosts` that says otherwise is an error.
void settle_hosts(ClusterDescription& cluster, const ClusterReader& reader, int implied,
                  const char* from) {
  if (cluster.hosts != 0 && cluster.hosts != implied) {
    throw ConfigError("{} = {}, but {} makes {}; leave out hosts or make them agree",
                      reader.where("hosts"), cluster.hosts, from, implied);
  }
  cluster.hosts = implied;
}

void read_fat_tree(ClusterDescription& cluster, const ClusterReader& reader) {
  reader.require("down",
                 "a fat-tree needs it, such as down = [4, 4]: 4 hosts a switch, 4 switches");
  cluster.down = reader.counts("down");
  const std::vector<int> ones(cluster.down.size(), 1);
  cluster.up = reader.has("up") ? reader.counts("up") : ones;
  cluster.cables = reader.has("cables") ? reader.counts("cables") : ones;
  for (const char* key : {"up", "cables"}) {
    const auto& list = key[0] == 'u' ? cluster.up : cluster.cables;
    if (list.size() != cluster.down.size()) {
      throw ConfigError("{} has {} numbers; it needs one a level as down has: {}",
                        reader.where(key), list.size(), cluster.down.size());
    }
    product(list, reader.where(key));
  }
  settle_hosts(cluster, reader, product(cluster.down, reader.where("down")), "down");
  // Level by level: every node has that many cables to the level above.
  double links = 0, nodes = cluster.hosts;
  for (std::size_t i = 0; i < cluster.down.size(); ++i) {
    links += nodes * cluster.up[i] * cluster.cables[i];
    nodes = nodes / cluster.down[i] * cluster.up[i];
  }
  if (links > kMostLinks) {
    throw ConfigError("{} and up and cables make {:.0f} cables; at most {} can be simulated",
                      reader.where("down"), links, kMostLinks);
  }
}

void read_two_level(ClusterDescription& cluster, const ClusterReader& reader) {
  for (const char* key : {"machines", "per_machine", "inside_bandwidth", "inside_latency",
                          "between_bandwidth", "between_latency"}) {
    reader.require(key,
                   "topology = \"two-level\" needs machines, per_machine, inside_bandwidth, "
                   "inside_latency, between_bandwidth and between_latency");
  }
  cluster.machines = static_cast<int>(reader.integer("machines", 0, 1, kMostHosts));
  cluster.per_machine = static_cast<int>(reader.integer("per_machine", 0, 1, kMostHosts));
  cluster.inside_bandwidth = reader.bandwidth("inside_bandwidth", 0);
  cluster.inside_latency = reader.latency("inside_latency", 0);
  cluster.between_bandwidth = reader.bandwidth("between_bandwidth", 0);
  cluster.between_latency = reader.latency("between_latency", 0);
  if (cluster.between_latency < cluster.inside_latency) {
    throw ConfigError("{} must be at least inside_latency: who leaves a machine crosses its inside",
                      reader.where("between_latency"));
  }
  settle_hosts(cluster, reader,
               product({cluster.machines, cluster.per_machine}, reader.where("machines")),
               "machines times per_machine");
}

void read_shape(ClusterDescription& cluster, const toml::table& root, const ClusterReader& reader) {
  const std::vector<std::string> names = {"star", "fat-tree", "torus", "two-level"};
  std::vector<std::string> keys = {"topology", "hosts",      "ranks_per_host", "speed",
                                   "slow",     "stragglers", "memory",         "host"};
  const auto also = [&](std::initializer_list<const char*> more) {
    keys.insert(keys.end(), more.begin(), more.end());
  };
  std::string topology = "star";
  if (reader.has("topology")) {
    const auto given = root["topology"].value<std::string>();
    if (!given || std::find(names.begin(), names.end(), *given) == names.end()) {
      throw ConfigError("{}: {}", reader.where("topology"),
                        unknown_name("topology", given.value_or("?"), names));
    }
    topology = *given;
  }
  cluster.topology =
      static_cast<Topology>(std::find(names.begin(), names.end(), topology) - names.begin());

  if (topology == "two-level") {
    also({"machines", "per_machine", "inside_bandwidth", "inside_latency", "between_bandwidth",
          "between_latency"});
  } else {
    also({"bandwidth", "latency"});
  }
  if (topology == "star") also({"backbone"});
  if (topology == "torus") also({"dims"});
  if (topology == "fat-tree") also({"down", "up", "cables"});
  reader.allow(keys);

  cluster.hosts = static_cast<int>(reader.integer("hosts", 0, 1, kMostHosts));
  cluster.ranks_per_host = static_cast<int>(reader.integer("ranks_per_host", 0, 1, kMostHosts));
  cluster.speed = reader.real("speed", 1, 0, kLimit, true);
  cluster.bandwidth = reader.bandwidth("bandwidth", cluster.bandwidth);
  cluster.latency = reader.latency("latency", cluster.latency);
  cluster.backbone = reader.bandwidth("backbone", 0);
  cluster.memory = reader.bytes("memory", 0);
  if (topology == "fat-tree") read_fat_tree(cluster, reader);
  if (topology == "two-level") read_two_level(cluster, reader);
  if (topology == "torus") {
    reader.require("dims", "a torus needs its sizes, such as dims = [4, 4]");
    cluster.dims = reader.counts("dims");
    settle_hosts(cluster, reader, product(cluster.dims, reader.where("dims")), "dims");
    // A size of 1 adds no cable, and SimGrid would make the same one several times.
    std::erase(cluster.dims, 1);
    if (cluster.dims.empty()) cluster.dims = {1};
  }
}

// Tables [[section]] about single hosts: calls `use` with each and its host, which none may share.
template <typename Use>
void read_host_tables(const ClusterDescription& cluster, const toml::table& root,
                      const ClusterReader& reader, const char* section, const char* value,
                      const char* why, const Use& use) {
  if (!reader.has(section)) return;
  const toml::array* list = root[section].as_array();
  const auto is_table = [](const toml::node& node) { return node.is_table(); };
  if (list == nullptr || !std::all_of(list->begin(), list->end(), is_table)) {
    throw ConfigError("{} must be a list of tables: [[{}]] with host and {}", reader.where(section),
                      section, value);
  }
  std::vector<int> seen;
  for (const toml::node& node : *list) {
    const ClusterReader entry(*node.as_table(), cluster.name, fmt::format("[[{}]]", section));
    entry.allow({"host", value});
    entry.require("host", "which host, from 0");
    entry.require(value, why);
    const int last = (cluster.hosts > 0 ? cluster.hosts : kMostHosts) - 1;
    const int host = static_cast<int>(entry.integer("host", 0, 0, last));
    if (std::find(seen.begin(), seen.end(), host) != seen.end()) {
      throw ConfigError("{} {} is there twice", entry.where("host"), host);
    }
    seen.push_back(host);
    use(entry, host);
  }
}

void read_hosts(ClusterDescription& cluster, const toml::table& root, const ClusterReader& reader) {
  read_host_tables(cluster, root, reader, "slow", "factor",
                   "how many times as long its computation takes",
                   [&](const ClusterReader& entry, int host) {
                     cluster.slow.push_back({host, entry.real("factor", 1, 0, kSlowest, true)});
                   });
  read_host_tables(cluster, root, reader, "host", "memory", "how many bytes it has, such as \"4G\"",
                   [&](const ClusterReader& entry, int host) {
                     cluster.memories.push_back({host, entry.bytes("memory", 0)});
                   });
}

void read_stragglers(ClusterDescription& cluster, const toml::table& root,
                     const ClusterReader& reader) {
  if (!reader.has("stragglers")) return;
  const toml::table* table = root["stragglers"].as_table();
  if (table == nullptr) {
    throw ConfigError("{} must be a table: [stragglers] with probability, factor and seed",
                      reader.where("stragglers"));
  }
  const ClusterReader entry(*table, cluster.name, "[stragglers]");
  entry.allow({"probability", "factor", "seed"});
  entry.require("probability", "how likely a piece of computation is slowed, from 0 to 1");
  entry.require("factor", "how many times as long it takes then");
  cluster.stragglers.probability = entry.real("probability", 0, 0, 1, false);
  cluster.stragglers.factor = entry.real("factor", 1, 0, kSlowest, true);
  cluster.stragglers.seed = static_cast<std::uint64_t>(
      entry.integer("seed", 1, 0, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

ClusterDescription parse_cluster(std::string_view text, const std::string& name) {
  toml::table root;
  try {
    root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw ConfigError("{}:{}:{}: {}", name, error.source().begin.line, error.source().begin.column,
                      error.description());
  }
  ClusterDescription cluster;
  cluster.name = name;
  const ClusterReader reader(root, name, "");
  read_shape(cluster, root, reader);
  read_hosts(cluster, root, reader);
  read_stragglers(cluster, root, reader);
  return cluster;
}

ClusterDescription load_cluster(const std::string& path) {
  constexpr std::size_t kLongestFile = std::size_t{1} << 24;
  std::string text;
  try {
    text = read_text_file(path, kLongestFile);
  } catch (const DataError& error) {
    throw ConfigError("cannot read the cluster file {}; is the path right? ({})", path,
                      error.what());
  }
  return parse_cluster(text, path);
}

}  // namespace lockstep
