// The law of checkpoints, without files: a run that stops half-way and goes on in fresh workers is
// the run that never stopped, bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "lockstep/base/state_store.h"
#include "lockstep/collective/collectives.h"
#include "tests/training.h"
#include "tests/world_under_test.h"

namespace lockstep {

// What the workers leave: their models at the end, who came when in the second half, and their
// states half-way.
struct Sitting {
  explicit Sitting(int workers)
      : models(static_cast<std::size_t>(workers)), arrivals(models.size()), states(models.size()) {}

  std::vector<Weights> models;
  ArrivalRecord arrivals;
  std::vector<std::unique_ptr<StateStore>> states;
};

inline void finish_sitting(Learner& learner, BatchSource& source, const Job& job, std::size_t rank,
                           std::int64_t own, Sitting& sitting) {
  learner.start();
  train_until(learner, source, own, job.plan().steps(), own);
  learner.finish(own);
  learner.rest();
  sitting.arrivals[rank] = learner.take_arrivals();
  const auto params = learner.replica().params();
  sitting.models[rank].assign(params.begin(), params.end());
}

inline void expect_resumes(const std::function<Job()>& make_job, int count) {
  const Job job = make_job();
  Sitting whole(count), second(count);
  const std::int64_t half = job.plan().steps() / 2;
  world_under_test()->run(count, [&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    Learner learner(transport, job);
    BatchSource source(job, transport.rank());
    std::int64_t own = 0;
    learner.start();
    train_until(learner, source, 0, half, own);
    learner.rest();
    barrier(learner.group());  // a shard may not rest yet
    learner.take_arrivals();
    whole.states[rank] = std::make_unique<StateStore>([&](StateVisitor& v) { learner.state(v); });
    finish_sitting(learner, source, job, rank, own, whole);
  });
  // Who comes when is not part of the state: the second sitting is told.
  Job again = make_job();
  again.replay(whole.arrivals);
  world_under_test()->run(count, [&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    Learner learner(transport, again);
    BatchSource source(again, transport.rank());
    whole.states[rank]->restore([&](StateVisitor& v) { learner.state(v); });
    learner.replica().apply_update();
    finish_sitting(learner, source, again, rank, half, second);
  });
  EXPECT_EQ(second.models, whole.models) << count << " workers";
}

}  // namespace lockstep
