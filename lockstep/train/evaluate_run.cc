#include "lockstep/train/evaluate_run.h"

#include "lockstep/base/error.h"
#include "lockstep/train/checkpoint.h"
#include "lockstep/train/job.h"
#include "lockstep/train/learner.h"
#include "lockstep/train/run_directory.h"
#include "lockstep/train/train.h"

namespace lockstep {

RunEvaluation evaluate_run(World& world, const Config& config, const std::string& directory) {
  const Job job(config, {}, ranks_given(world, config));
  const RunPaths paths = find_run(directory);
  RunEvaluation found;
  world.run(job.placement().ranks(), [&](Transport& transport) {
    Learner learner(transport, job);
    const auto checkpoint =
        load_checkpoint(learner.group(), paths.checkpoints(), OtherWorkers::kAllow);
    if (!checkpoint) throw DataError("{} holds no checkpoint to evaluate", directory);
    checkpoint->restore([&](StateVisitor& visitor) { learner.state(visitor); });
    learner.replica().apply_update();
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
