#include "lockstep/train/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/base/divisors.h"
#include "lockstep/base/error.h"
#include "lockstep/train/aggregation.h"
#include "lockstep/train/parallel.h"
#include "lockstep/transport/thread_budget.h"

namespace lockstep {
namespace {

// Merging pays where many workers share a core; with few of them the bits of separate workers,
// which are those of every other world, are worth more.
int automatic_merge(int workers, const std::string& world) {
  const int cores = usable_cores();
  if (world != "threads" || workers < 4 * cores) return 1;
  int ranks = 1;
  for (const int candidate : divisors(workers)) {
    if (candidate <= cores) ranks = candidate;
  }
  return workers / ranks;
}

// Why workers cannot be computed together here; empty: they can.
std::string reason_not_to_merge(const Config& config, const ModelKind& model,
                                const SyncTraits& traits) {
  if (!model.mergeable()) return "the model's batch norm or dropout cannot be told apart by worker";
  if (traits.merges) return "";
  return fmt::format("with [sync] name = \"{}\" each has parameters of its own",
                     config.at("sync").component());
}

}  // namespace

std::string Placement::name_of(int rank) const {
  const int first = first_worker(rank % worker_ranks());
  const std::string name =
      merge == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + merge - 1);
  return stages == 1 ? name : fmt::format("{}, stage {}", name, rank / worker_ranks());
}

Placement place_workers(Config& config, const ModelKind& model, const SyncTraits& traits,
                        int ranks_given) {
  settle_aggregation(config, config.at("sync").component(), traits);
  const auto servers = static_cast<int>(config.at("aggregate").own().integer("servers"));
  const std::string cannot_merge = reason_not_to_merge(config, model, traits);
  const Options& cluster = config.at("cluster").own();
  const int stages = stages_of(config), workers = replicas_of(config);
  int merge = static_cast<int>(cluster.integer("merge"));
  if (merge > 0 && workers % merge != 0) {
    throw ConfigError("[cluster] merge = {} does not divide {} workers; {} would", merge, workers,
                      fmt::join(divisors(workers), ", "));
  }
  const std::string beside = servers > 0 ? fmt::format(" and {} servers", servers) : "";
  if (ranks_given > 0 && stages > 1 && ranks_given != workers * stages + servers) {
    throw ConfigError("mpirun started {} process{}, but {} worker{} of {} stages need {}",
                      ranks_given, ranks_given == 1 ? "" : "es", workers, workers == 1 ? "" : "s",
                      stages, workers * stages + servers);
  }
  if (ranks_given > 0) {
    const int to_train = (ranks_given - servers) / stages;
    const int wanted = merge > 0 ? workers / merge : to_train;
    if (to_train < 1 || wanted != to_train || workers % to_train != 0) {
      std::vector<int> fitting = merge > 0 ? std::vector<int>{workers / merge} : divisors(workers);
      for (int& ranks : fitting) ranks += servers;
      throw ConfigError("mpirun started {} process{}, but {} workers{}{} need {}{}", ranks_given,
                        ranks_given == 1 ? "" : "es", workers,
                        merge > 0 ? fmt::format(", merged by {},", merge) : "", beside,
                        merge > 0 ? "" : "one of ", fmt::join(fitting, ", "));
    }
    merge = workers / to_train;
  }
  if (merge == 0) {
    merge =
        cannot_merge.empty() && stages == 1 ? automatic_merge(workers, cluster.text("world")) : 1;
  }
  if (merge > 1 && !cannot_merge.empty()) {
    throw ConfigError(
        "{} workers cannot be computed as one batch ([cluster] merge): {}; start as many ranks as "
        "workers{}",
        merge, cannot_merge, beside);
  }
  config.at("cluster").set_value("merge", std::int64_t{merge});
  return {workers, merge, servers, stages};
}

}  // namespace lockstep
