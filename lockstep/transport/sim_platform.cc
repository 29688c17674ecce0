// From a cluster description to SimGrid's netzones. Every link is two, one a direction, and flows
// share each of them max-min fairly. SimGrid's corrections for TCP are off: a message alone on its
// path takes exactly latency + bytes / bandwidth, which is the law that users can check by hand.
#include "lockstep/transport/sim_platform.h"

#include <fmt/format.h>
#include <xbt/log.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/transport/sim_leftovers.h"

namespace lockstep {
namespace {

namespace s4u = simgrid::s4u;
using Direction = s4u::LinkInRoute::Direction;

constexpr double kHostSpeed = 1e9;  // unused: computation is charged in seconds
constexpr double kLoopbackBandwidth = 10e9;
constexpr double kLoopbackLatency = 1e-6;

// Once a process: SimGrid's settings outlive its engines.
void configure() {
  static bool done = false;
  if (done) return;
  done = true;
  xbt_log_control_set("root.thres:critical");
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/bandwidth-factor:1");
  s4u::Engine::set_config("network/latency-factor:1");
  s4u::Engine::set_config("network/weight-S:0");
  s4u::Engine::set_config("network/TCP-gamma:1e30");  // no TCP window
  s4u::Engine::set_config("network/crosstraffic:0");  // answers take no bandwidth
  // Touched pages count only. Two megabytes and a guard page never become a huge page.
  s4u::Engine::set_config("contexts/stack-size:2048");
}

// The engine takes over SIGINT to print its own report; the program has a better use for it.
std::unique_ptr<s4u::Engine> make_engine() {
  struct sigaction interrupt {};
  sigaction(SIGINT, nullptr, &interrupt);
  auto engine = std::make_unique<s4u::Engine>("lockstep");
  sigaction(SIGINT, &interrupt, nullptr);
  return engine;
}

std::string name_of(const char* kind, int index) {
  return fmt::format("{}{}", kind, index);
}

s4u::Link* loopback(s4u::NetZone* zone, int index) {
  auto* link = zone->create_link(name_of("self", index), kLoopbackBandwidth);
  link->set_latency(kLoopbackLatency)->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
  link->seal();
  return link;
}

s4u::SplitDuplexLink* duplex(s4u::NetZone* zone, const std::string& name, double bandwidth,
                             double latency) {
  auto* link = zone->create_split_duplex_link(name, bandwidth);
  link->set_latency(latency);
  link->seal();
  return link;
}

// A host of a star: half the latency on its link up, half on the other's link down.
s4u::Host* star_host(s4u::NetZone* zone, int index, double bandwidth, double latency,
                     s4u::Link* backbone) {
  auto* host = zone->create_host(name_of("host", index), kHostSpeed);
  host->seal();
  std::vector<s4u::LinkInRoute> way{
      {duplex(zone, name_of("link", index), bandwidth, latency / 2), Direction::UP}};
  if (backbone != nullptr) way.emplace_back(backbone);
  zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, way, true);
  zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                  {s4u::LinkInRoute(loopback(zone, index))}, false);
  return host;
}

std::vector<s4u::Host*> build_star(const ClusterDescription& cluster, int hosts) {
  auto* zone = s4u::create_star_zone("star");
  s4u::Link* backbone = nullptr;
  if (cluster.backbone > 0) {
    backbone = zone->create_link("backbone", cluster.backbone);
    backbone->set_latency(0.0);
    backbone->seal();
  }
  std::vector<s4u::Host*> built;
  for (int i = 0; i < hosts; ++i) {
    built.push_back(star_host(zone, i, cluster.bandwidth, cluster.latency, backbone));
  }
  zone->seal();
  return built;
}

// A star of stars. Who leaves a machine crosses its inside too, so the machines' links carry only
// what is left of the latency between.
std::vector<s4u::Host*> build_two_level(const ClusterDescription& cluster) {
  auto* root = s4u::create_star_zone("cluster");
  std::vector<s4u::Host*> built;
  for (int m = 0; m < cluster.machines; ++m) {
    auto* machine = s4u::create_star_zone(name_of("machine", m));
    machine->set_parent(root);
    auto* gate = machine->create_router(name_of("gate", m));
    for (int i = 0; i < cluster.per_machine; ++i) {
      const int index = m * cluster.per_machine + i;
      built.push_back(
          star_host(machine, index, cluster.inside_bandwidth, cluster.inside_latency, nullptr));
    }
    machine->seal();
    auto* link = duplex(root, name_of("uplink", m), cluster.between_bandwidth,
                        (cluster.between_latency - cluster.inside_latency) / 2);
    root->add_route(machine->get_netpoint(), nullptr, gate, nullptr, {{link, Direction::UP}}, true);
  }
  root->seal();
  return built;
}

s4u::ClusterCallbacks leaves(std::vector<s4u::Host*>& built) {
  using simgrid::kernel::routing::NetPoint;
  using Coordinates = std::vector<unsigned long>;
  s4u::ClusterCallbacks callbacks(
      [&built](s4u::NetZone* zone, const Coordinates&, unsigned long id) {
        auto* host = zone->create_host(name_of("host", static_cast<int>(id)), kHostSpeed);
        host->seal();
        if (built.size() <= id) built.resize(id + 1);
        built[id] = host;
        return std::pair<NetPoint*, NetPoint*>(host->get_netpoint(), nullptr);
      });
  callbacks.loopback = [](s4u::NetZone* zone, const Coordinates&, unsigned long id) {
    return loopback(zone, static_cast<int>(id));
  };
  return callbacks;
}

std::vector<s4u::Host*> build_torus(const ClusterDescription& cluster) {
  std::vector<s4u::Host*> built;
  s4u::create_torus_zone("torus", nullptr, {cluster.dims.begin(), cluster.dims.end()},
                         leaves(built), cluster.bandwidth, cluster.latency,
                         s4u::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  return built;
}

std::vector<s4u::Host*> build_fat_tree(const ClusterDescription& cluster) {
  std::vector<s4u::Host*> built;
  const s4u::FatTreeParams shape(
      static_cast<unsigned>(cluster.down.size()), {cluster.down.begin(), cluster.down.end()},
      {cluster.up.begin(), cluster.up.end()}, {cluster.cables.begin(), cluster.cables.end()});
  s4u::create_fatTree_zone("fat-tree", nullptr, shape, leaves(built), cluster.bandwidth,
                           cluster.latency, s4u::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  return built;
}

}  // namespace

SimPlatform::SimPlatform(const ClusterDescription& cluster, int ranks) {
  LOCKSTEP_CHECK(!s4u::Engine::has_instance(), "a simulation inside a simulation");
  clear_sim_leftovers();
  engine_ = make_engine();
  configure();
  switch (cluster.topology) {
    case Topology::kStar:
      // Hosts without ranks change nothing in a star.
      hosts_ = build_star(cluster, std::min(cluster.hosts_for(ranks), ranks));
      break;
    case Topology::kFatTree:
      hosts_ = build_fat_tree(cluster);
      break;
    case Topology::kTorus:
      hosts_ = build_torus(cluster);
      break;
    case Topology::kTwoLevel:
      hosts_ = build_two_level(cluster);
      break;
  }
  engine_->seal_platform();
  began_ = s4u::Engine::get_clock();
}

void SimPlatform::run() {
  engine_->run();
}

}  // namespace lockstep
