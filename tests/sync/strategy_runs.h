// Runs of a strategy on the noisy quadratic, for laws that compare one strategy with another.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/quadratic_model.h"
#include "tests/training.h"
#include "tests/world_under_test.h"

namespace lockstep {

constexpr std::size_t kQuadraticSamples = 101;  // divides by nothing

inline Job quadratic_job(const std::vector<std::string>& settings) {
  Config config;
  config.set({"model.name=fake", "train.local_batch=4", "train.epochs=4", "data.validation=0",
              "cluster.merge=1", "optim.lr=0.1", "optim.momentum=0"});
  config.set(settings);
  return Job(config, {numbered_samples(kQuadraticSamples), std::make_shared<QuadraticModel>()}, 0);
}

inline std::string workers(int count) {
  return "cluster.workers=" + std::to_string(count);
}

// Settings of a run with this strategy.
inline std::vector<std::string> of_strategy(const std::string& name, int count,
                                            const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings{"sync.name=" + name, workers(count)};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// The one model that training leaves, the same on all workers. Empty: this process had no rank.
inline Weights train_quadratic(World& world, const std::vector<std::string>& settings) {
  const Job job = quadratic_job(settings);
  const auto all = train_all(world, job);
  for (const auto& one : all) EXPECT_EQ(one, all.front()) << "workers differ";
  return all.empty() ? Weights{} : all.front();
}

inline void expect_near(const Weights& left, const Weights& right, double tolerance) {
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_NEAR(left[i], right[i], tolerance) << i;
}

}  // namespace lockstep
