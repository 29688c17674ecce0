#include "lockstep/train/aggregation.h"

#include "lockstep/base/error.h"

namespace lockstep {

void settle_aggregation(Config& config, const std::string& strategy, const SyncTraits& traits) {
  Section& aggregate = config.at("aggregate");
  std::string via = aggregate.own().text("via");
  if (via == "auto") {
    via = traits.all_reduce ? "allreduce" : "server";
    aggregate.set_value("via", via);
  }
  if (via == "allreduce" && !traits.all_reduce) {
    throw ConfigError(
        "[sync] name = \"{}\" keeps its model on a parameter server, which [aggregate] via = "
        "\"allreduce\" does not have; use via = \"server\"",
        strategy);
  }
  if (via == "server" && !traits.server) {
    throw ConfigError(
        "[sync] name = \"{}\" sends from worker to worker, which a parameter server "
        "([aggregate] via = \"server\") has no part in; use via = \"allreduce\", or another "
        "strategy, such as \"asynchronous\"",
        strategy);
  }
  if (via == "allreduce" && aggregate.own().integer("servers") > 0) {
    throw ConfigError(
        "[aggregate] servers = {} are of no use with via = \"allreduce\"; use via = \"server\"",
        aggregate.own().integer("servers"));
  }
}

}  // namespace lockstep
