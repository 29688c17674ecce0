// Ranks are the processes that mpirun started, in its order. Each calls run() and gets its own rank
// or, beyond the run's ranks, waits for the others to end.
#include <fmt/format.h>

#include <set>
#include <thread>

#include "lockstep/transport/mpi_transport.h"
#include "lockstep/transport/thread_budget.h"
#include "lockstep/transport/world.h"

namespace lockstep {
namespace {

class MpiWorld : public World {
 public:
  explicit MpiWorld(double timeout) : session_(MpiSession::get()), timeout_(timeout) {}

  void run(int ranks, const RankBody& body) override {
    check_ranks(ranks, session_.processes(), "mpirun started");
    failed_ = true;  // whatever exception leaves this function
    prints_ = session_.leads_host();
    MpiRun run(session_, ranks, timeout_);
    try {
      if (run.takes_part()) {
        apply_thread_budget(threads(ranks));
        MpiTransport transport(run, 0);
        body(transport);
      }
      run.join();
    } catch (...) {
      run.died(0, std::current_exception());
      prints_ = session_.page().claim_printing(session_.process());
      run.rethrow();
    }
    failed_ = false;
  }

  int most_ranks() const override { return session_.processes(); }
  int ranks_here(int ranks) const override {
    int count = 0;
    for (int rank = 0; rank < ranks; ++rank) count += session_.host_of(rank) == session_.host();
    return count;
  }

  // After a failure one process of each host speaks: that host's only source of news may be itself.
  bool leads() const override { return failed_ ? prints_ : session_.process() == 0; }

  std::string describe(int ranks) const override {
    std::set<int> hosts;
    for (int rank = 0; rank < ranks; ++rank) hosts.insert(session_.host_of(rank));
    const int count = threads(ranks);
    return fmt::format("{} MPI process{} on {} host{}, {} compute thread{} each", ranks,
                       ranks == 1 ? "" : "es", hosts.size(), hosts.size() == 1 ? "" : "s", count,
                       count == 1 ? "" : "s");
  }

 private:
  // mpirun binds each of a few ranks to cores of its own: then the mask is its share already.
  int threads(int ranks) const {
    const bool bound = usable_cores() < static_cast<int>(std::thread::hardware_concurrency());
    return thread_budget(bound ? 1 : ranks_here(ranks));
  }

  MpiSession& session_;
  double timeout_;
  bool failed_ = false;
  bool prints_ = false;
};

const Registration<World> kMpi{
    "mpi", "Each rank is a process that mpirun or srun started, on one machine or many.",
    world_options(),
    [](const Options& options) { return std::make_unique<MpiWorld>(options.real("timeout")); }};

}  // namespace
}  // namespace lockstep
