#include "lockstep/train/evaluate_run.h"

#include "lockstep/base/error.h"
#include "lockstep/train/checkpoint.h"
#include "lockstep/train/job.h"
#include "lockstep/train/learner.h"
#include "lockstep/train/run_directory.h"
#include "lockstep/train/train.h"

namespace lockstep {
namespace {

// The run's workers without the ranks that only served. A server that did nothing but average is
// not needed either.
Config without_servers(Config config) {
  config.set({"aggregate.servers=0"});
  const Section& sync = config.at("sync");
  const auto strategy = Registry<SyncStrategy>::instance().make(sync.component(), sync.options());
  if (strategy->traits().all_reduce) config.set({"aggregate.via=allreduce"});
  return config;
}

}  // namespace

RunEvaluation evaluate_run(World& world, const Config& config, const std::string& directory) {
  const Config own = without_servers(config);
  const Job job(own, {}, ranks_given(world, own));
  const RunPaths paths = find_run(directory);
  RunEvaluation found;
  world.run(job.placement().ranks(), [&](Transport& transport) {
    Learner learner(transport, job);
    const auto checkpoint = load_checkpoint(learner.seat().trainers(), paths.checkpoints(),
                                            OtherWorkers::kAllow, learner.seat().plan());
    if (!checkpoint) throw DataError("{} holds no checkpoint to evaluate", directory);
    checkpoint->restore([&](StateVisitor& visitor) { learner.model_state(visitor); });
    learner.replica().apply_update();
    // Between two agreements workers have models of their own: what they would agree on counts.
    if (!learner.consistent()) learner.finish(checkpoint->meta().step);
    const Tallies validation = learner.validate(job.split().validation);
    const Tallies test = learner.validate(job.split().test);
    if (transport.rank() == 0) {
      found = {checkpoint->meta().step, checkpoint->meta().epoch, validation, test,
               checkpoint->passed_over()};
    }
  });
  return found;
}

}  // namespace lockstep
