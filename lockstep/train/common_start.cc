#include "lockstep/train/common_start.h"

#include "lockstep/base/text.h"
#include "lockstep/collective/agreement.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/transport/thread_budget.h"

namespace lockstep {
namespace {

// The cores of the machine shared out among the ranks that compute on it at once. Simulated ranks
// count as many as there are, so that their sums have the order, and the bits, of threads.
ModelSettings settings_for(Transport& transport, const Job& job) {
  const Options& cluster = job.config().at("cluster").own();
  const int workers = job.placement().worker_ranks();
  int here = workers;
  if (cluster.text("world") == "mpi") {
    here = 0;
    for (int rank = 0; rank < workers; ++rank) {
      here += transport.host_of(rank) == transport.host_of(transport.rank()) ? 1 : 0;
    }
  }
  ModelSettings settings = job.model_settings();
  const auto asked = static_cast<int>(cluster.integer("threads"));
  settings.threads = asked > 0 ? asked : thread_budget(std::max(1, here));
  apply_thread_budget(settings.threads);
  return settings;
}

// What must be the same on all ranks, or they would average what does not belong together.
RunFacts facts_of(const Job& job, Replica& replica) {
  RunFacts facts;
  std::string section;
  for (const auto& line : split(job.config().to_toml(), '\n')) {
    if (line.starts_with('[')) section = line;
    if (const auto at = line.find(" = "); at != std::string::npos) {
      facts.add(section + " " + line.substr(0, at), line.substr(at + 3));
    }
  }
  facts.add("data set", job.dataset().name);
  facts.add("samples", job.dataset().size());
  facts.add("parameters", replica.params().size());
  facts.add("layers", replica.layers().size());
  facts.add("steps", static_cast<std::size_t>(job.plan().steps()));
  return facts;
}

}  // namespace

std::unique_ptr<Replica> make_replica(Transport& transport, const Job& job) {
  return job.model().make(settings_for(transport, job));
}

void start_equal(Group& everyone, const Job& job, Replica& replica) {
  require_agreement(everyone, facts_of(job, replica));
  broadcast(everyone, replica.params(), 0);
  broadcast(everyone, replica.buffers(), 0);
  replica.apply_update();
}

}  // namespace lockstep
