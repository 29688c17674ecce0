#include "lockstep/train/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/base/error.h"
#include "lockstep/transport/thread_budget.h"

namespace lockstep {
namespace {

std::vector<int> divisors(int number) {
  std::vector<int> all;
  for (int i = 1; i <= number; ++i) {
    if (number % i == 0) all.push_back(i);
  }
  return all;
}

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

}  // namespace

Placement place_workers(const Config& config, bool mergeable, int ranks_given) {
  const Options& cluster = config.at("cluster").own();
  const int workers = static_cast<int>(cluster.integer("workers"));
  int merge = static_cast<int>(cluster.integer("merge"));
  if (merge > 0 && workers % merge != 0) {
    throw ConfigError("[cluster] merge = {} does not divide {} workers; {} would", merge, workers,
                      fmt::join(divisors(workers), ", "));
  }
  if (ranks_given > 0) {
    const int wanted = merge > 0 ? workers / merge : ranks_given;
    if (wanted != ranks_given || workers % ranks_given != 0) {
      throw ConfigError("mpirun started {} process{}, but {} workers{} need {}", ranks_given,
                        ranks_given == 1 ? "" : "es", workers,
                        merge > 0 ? fmt::format(", merged by {},", merge) : "",
                        merge > 0 ? fmt::format("{}", wanted)
                                  : fmt::format("one of {}", fmt::join(divisors(workers), ", ")));
    }
    merge = workers / ranks_given;
  }
  if (merge == 0) {
    merge = mergeable ? automatic_merge(workers, cluster.text("world")) : 1;
  }
  if (merge > 1 && !mergeable) {
    throw ConfigError(
        "this model cannot compute {} workers as one batch ([cluster] merge): its batch norm or "
        "dropout cannot be told apart by worker; start as many ranks as workers",
        merge);
  }
  return {workers, merge};
}

}  // namespace lockstep
