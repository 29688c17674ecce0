// Runs of a network written out by hand, in one piece and in stages, for tests of [parallel].
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <utility>

#include "tests/staged_model.h"
#include "tests/training.h"
#include "tests/world_under_test.h"

namespace lockstep {

inline constexpr std::size_t kLayers = 5, kWidth = 3;

inline std::shared_ptr<const Dataset> dataset(std::size_t samples = 53) {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = "three corners";
  dataset->shape = {DataShape::Kind::kVector, {kWidth}, kWidth, 0};
  dataset->samples = dataset->first_test = samples;
  AlignedVector<float> values;
  for (std::size_t i = 0; i < samples; ++i) {
    Random random(7, "corners", 0, i);
    const std::size_t label = random.below(kWidth);
    dataset->labels.push_back(static_cast<std::int64_t>(label));
    for (std::size_t c = 0; c < kWidth; ++c) {
      values.push_back(static_cast<float>((c == label ? 1 : 0) + 0.3 * random.normal()));
    }
  }
  dataset->values = std::move(values);
  return dataset;
}

inline Job make_job(const Settings& settings, std::size_t layers = kLayers) {
  Config config;
  config.set({"model.name=fake", "train.local_batch=12", "train.epochs=2", "data.validation=0",
              "assign.shuffle=once", "optim.lr=0.1", "optim.momentum=0.9", "cluster.merge=1",
              "data.normalise=false"});
  config.set(settings);
  return Job(config, {dataset(), std::make_shared<StagedModel>(layers)}, 0);
}

inline std::string set(const std::string& key, int value) {
  return key + "=" + std::to_string(value);
}

// The parts of the model that the ranks of this process hold at the end, by stage and worker.
using Parts = std::map<std::pair<int, int>, Weights>;

inline Parts train_parts(World& world, const Job& job) {
  std::mutex mutex;
  Parts parts;
  world.run(job.placement().ranks(), [&](Transport& transport) {
    Learner learner(transport, job);
    const int worker = learner.group().index();
    learner.start();
    BatchSource source(job, worker);
    std::int64_t own = 0;
    learner.finish(train_until(learner, source, 0, job.plan().steps(), own));
    learner.rest();
    const auto params = learner.replica().params();
    const std::lock_guard lock(mutex);
    parts[{learner.seat().stage(), worker}].assign(params.begin(), params.end());
  });
  return parts;
}

inline Weights trained_whole(const Settings& settings, int workers) {
  const auto threads = Registry<World>::instance().make("threads");
  const Job job = make_job(with(settings, {set("cluster.workers", workers)}));
  return train_parts(*threads, job).at({0, 0});
}

// Every part is the same part of `whole`, to rounding.
inline void expect_parts_of(const Weights& whole, const Parts& parts, const Job& job,
                            double tolerance) {
  for (const auto& [place, params] : parts) {
    Range range{0, whole.size()};
    if (job.parallel() != nullptr) {
      const StagePlan plan = job.parallel()->plan();
      ASSERT_EQ(plan.params, whole.size());
      range = plan.stages[static_cast<std::size_t>(place.first)].params;
    }
    ASSERT_EQ(params.size(), range.size);
    for (std::size_t i = 0; i < params.size(); ++i) {
      ASSERT_NEAR(params[i], whole[range.begin + i], tolerance)
          << "stage " << place.first << ", worker " << place.second;
    }
  }
}

}  // namespace lockstep
