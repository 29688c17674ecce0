// Workers that stand apart and do not move by themselves: what a strategy's mixing does to them.
#pragma once

#include <cmath>
#include <cstring>

#include "lockstep/base/state_store.h"
#include "lockstep/collective/collectives.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {

// Where a worker stands at the start: different on every worker and in every element.
inline double place(int rank, std::size_t element) {
  return std::sin(7.0 * rank + static_cast<double>(element));
}

// One value of the learner's state.
inline double real_in_state(Learner& learner, const std::string& name) {
  double found = std::numeric_limits<double>::quiet_NaN();
  read_state([&](StateVisitor& visitor) { learner.state(visitor); },
             [&](const StateValue& value) {
               if (value.name == name) std::memcpy(&found, value.bytes.data(), sizeof found);
             });
  return found;
}

// Collective: Σ over the workers of weight × parameters, element by element, and of the weights.
inline std::vector<double> weighted_sums(Learner& learner, double weight) {
  std::vector<double> own{weight};
  for (const float value : learner.replica().params()) own.push_back(weight * value);
  std::vector<double> sums(own.size());
  for (const auto& bytes : all_gather_bytes(learner.group(), std::as_bytes(std::span(own)))) {
    std::vector<double> theirs(own.size());
    std::memcpy(theirs.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += theirs[i];
  }
  return sums;
}

// Collective, at a meeting: the workers, with their weights, still have the average they began
// with, and it is the model that they agree on.
inline void expect_average_kept(Learner& learner, double weight, int meeting) {
  const int workers = learner.group().size();
  const auto sums = weighted_sums(learner, weight);
  EXPECT_NEAR(sums[0], workers, 1e-12);
  const auto expect_average = [&](std::size_t element, double average) {
    double first = 0;
    for (int rank = 0; rank < workers; ++rank) first += place(rank, element);
    EXPECT_NEAR(average, first / workers, 1e-5) << workers << " workers, meeting " << meeting;
  };
  for (std::size_t i = 1; i < sums.size(); ++i) expect_average(i - 1, sums[i] / workers);
  if (meeting == 0) return;
  ASSERT_TRUE(learner.consistent());
  learner.with_model([&] {
    const auto model = learner.replica().params();
    for (std::size_t i = 0; i < model.size(); ++i) expect_average(i, model[i]);
  });
}

// `meet` is called on every worker after each of a few meetings, and at the start.
inline void mix_scattered(World& world, const Job& job,
                          const std::function<void(int meeting, Learner&)>& meet) {
  world.run(job.placement().workers, [&](Transport& transport) {
    Learner learner(transport, job);
    const auto params = learner.replica().params();
    for (std::size_t i = 0; i < params.size(); ++i) {
      params[i] = static_cast<float>(place(transport.rank(), i));
    }
    meet(0, learner);
    BatchSource source(job, transport.rank());
    std::int64_t own = 0;
    const int meetings = 4;
    for (int meeting = 1; meeting <= meetings; ++meeting) {
      const std::int64_t until = job.plan().steps() * meeting / meetings;
      train_until(learner, source, own, until, own);
      meet(meeting, learner);
    }
    learner.finish(own);
    meet(meetings + 1, learner);
  });
}

}  // namespace lockstep
