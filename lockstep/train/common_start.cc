#include "lockstep/train/common_start.h"

#include "lockstep/base/text.h"
#include "lockstep/collective/agreement.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/transport/thread_budget.h"

namespace lockstep {
namespace {

// What must be the same on all ranks, or they would average what does not belong together.
RunFacts facts_of(const Job& job, std::size_t parameters) {
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
  facts.add("parameters", parameters);
  facts.add("steps", static_cast<std::size_t>(job.plan().steps()));
  return facts;
}

}  // namespace

// The cores of the machine shared out among the ranks that compute on it at once. Simulated ranks
// count as many as there are, so that their sums have the order, and the bits, of threads.
ModelSettings settings_for(Transport& whole, const Job& job) {
  const Options& cluster = job.config().at("cluster").own();
  const int ranks = job.placement().training_ranks();
  int here = ranks;
  if (cluster.text("world") == "mpi") {
    here = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      here += whole.host_of(rank) == whole.host_of(whole.rank()) ? 1 : 0;
    }
  }
  ModelSettings settings = job.model_settings();
  const auto asked = static_cast<int>(cluster.integer("threads"));
  settings.threads = asked > 0 ? asked : thread_budget(std::max(1, here));
  apply_thread_budget(settings.threads);
  return settings;
}

std::unique_ptr<Replica> make_replica(Transport& whole, const Job& job) {
  return job.model().make(settings_for(whole, job));
}

void agree_on_run(Group& everyone, const Job& job, std::size_t parameters) {
  require_agreement(everyone, facts_of(job, parameters));
}

void start_equal(Group& group, Replica& replica) {
  broadcast(group, replica.params(), 0);
  broadcast(group, replica.buffers(), 0);
  replica.apply_update();
}

}  // namespace lockstep
