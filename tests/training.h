// Training runs for tests: all ranks of a job, without files.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "lockstep/train/batch_source.h"
#include "lockstep/train/everyone.h"
#include "lockstep/train/learner.h"
#include "lockstep/transport/world.h"

namespace lockstep {

using Weights = std::vector<float>;
using Settings = std::vector<std::string>;  // "section.key=value"

inline Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// Takes steps until all workers meet at `until`, then returns how many are done. `own` counts this
// worker's steps.
inline std::int64_t train_until(Learner& learner, BatchSource& source, std::int64_t done,
                                std::int64_t until, std::int64_t& own) {
  Batch batch;
  for (;;) {
    const Turn turn = learner.next(done, until);
    if (!turn.trains) return turn.step;
    source.fill(turn, own, batch);
    learner.learn(turn.step, own++, batch, turn.step + 1 == until);
    done = turn.step + 1;
  }
}

// The parameters of every worker of this process after training. `look` is called on each worker
// with its learner, after the last step and before finish(). `arrivals`: who came when, in the
// process of rank 0.
inline std::vector<Weights> train_all(World& world, const Job& job,
                                      const std::function<void(int rank, Learner&)>& look = {},
                                      ArrivalRecord* arrivals = nullptr) {
  std::vector<Weights> all(static_cast<std::size_t>(job.placement().worker_ranks()));
  world.run(job.placement().ranks(), [&](Transport& transport) {
    if (transport.rank() >= job.placement().worker_ranks()) {
      return serve_only(transport, job, {}, false);
    }
    Group everyone = group_of_everyone(transport);
    Learner learner(transport, job);
    learner.start();
    BatchSource source(job, transport.rank());
    std::int64_t own = 0;
    const std::int64_t done = train_until(learner, source, 0, job.plan().steps(), own);
    if (look) look(transport.rank(), learner);
    learner.finish(done);
    learner.rest();
    if (job.placement().servers > 0) agree_to_rest(everyone, RestFor::kEnd);
    ArrivalRecord record = gather_arrivals(everyone, job, learner.take_arrivals());
    if (transport.rank() == 0 && arrivals != nullptr) *arrivals = std::move(record);
    const auto params = learner.replica().params();
    all[static_cast<std::size_t>(transport.rank())].assign(params.begin(), params.end());
  });
  std::erase_if(all, [](const Weights& one) { return one.empty(); });  // ranks of other processes
  return all;
}

}  // namespace lockstep
