// Runs of codistillation with the linear model.
#pragma once

#include "tests/linear_model.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {

// Of 2 groups of 2 workers, one worker has one sample more than the other.
constexpr std::size_t kSamples = 102;

using Settings = std::vector<std::string>;

inline Job linear_job(std::shared_ptr<const Dataset> samples, const Settings& settings) {
  Config config;
  config.set({"model.name=fake", "train.local_batch=4", "train.epochs=3", "data.validation=0",
              "data.normalise=false", "cluster.merge=1", "optim.lr=0.1", "optim.momentum=0.9"});
  config.set(settings);
  return Job(config, {std::move(samples), std::make_shared<LinearModel>()}, 0);
}

inline Settings codistilled(int count, int groups, const Settings& more = {}) {
  Settings all = of_strategy("codistillation", count, more);
  all.push_back("sync.groups=" + std::to_string(groups));
  return all;
}

inline Weights weights_of(Learner& learner) {
  const auto params = learner.replica().params();
  return {params.begin(), params.end()};
}

struct Outcome {
  std::vector<Weights> before;    // finish(), by worker; empty: of another process
  std::vector<Weights> finished;  // of this process
};

inline Outcome run(World& world, const Job& job) {
  Outcome result;
  result.before.resize(static_cast<std::size_t>(job.placement().workers));
  result.finished = train_all(world, job, [&](int rank, Learner& learner) {
    result.before[static_cast<std::size_t>(rank)] = weights_of(learner);
  });
  return result;
}

}  // namespace lockstep
