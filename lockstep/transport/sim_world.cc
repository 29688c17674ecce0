// Ranks as actors of SimGrid on a cluster that a file describes. The mathematics is real, the
// seconds are the cluster's.
#include "lockstep/transport/sim_world.h"

#include <fmt/format.h>

#include <functional>

#include "lockstep/transport/sim_run.h"

namespace lockstep {
namespace {

class SimWorld : public World {
 public:
  SimWorld(ClusterDescription cluster, double timeout)
      : cluster_(std::move(cluster)), timeout_(timeout) {}

  void run(int ranks, const RankBody& body) override {
    check_ranks(ranks, most_ranks(),
                fmt::format("{} (hosts times ranks_per_host) has room for", cluster_.name));
    SimRun run(cluster_, ranks, timeout_);
    for (int rank = 0; rank < ranks; ++rank) run.start(rank, 0, std::cref(body));
    run.finish();
  }

  int most_ranks() const override { return cluster_.most_ranks(); }
  bool simulated() const override { return true; }
  std::string describe(int ranks) const override {
    return fmt::format("{} simulated rank{} on a {}", ranks, ranks == 1 ? "" : "s",
                       cluster_.summary(ranks));
  }

 private:
  ClusterDescription cluster_;
  double timeout_;
};

OptionSet options() {
  OptionSet set = world_options();
  set.text(
      "cluster_file", "",
      "TOML file that describes hosts and network (docs/cluster-files.md); without one, a star "
      "with a host a rank, 1 Gbit/s and 50 us");
  return set;
}

}  // namespace

std::unique_ptr<World> make_sim_world(ClusterDescription cluster, double timeout) {
  return std::make_unique<SimWorld>(std::move(cluster), timeout);
}

const Registration<World> kSim{
    "sim", "Actors of a simulator on a virtual clock, on a cluster that a file describes.",
    options(), [](const Options& given) {
      const std::string& path = given.text("cluster_file");
      return make_sim_world(path.empty() ? ClusterDescription{} : load_cluster(path),
                            given.real("timeout"));
    }};

}  // namespace lockstep
