// Cuts against all there are.
#include "lockstep/pipeline/cut.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CutProblem random_problem(Random& random, std::size_t layers) {
  CutProblem problem;
  for (std::size_t i = 0; i < layers; ++i) {
    const auto draw = [&] { return static_cast<double>(random.below(20)) / 4; };
    problem.layers.push_back({std::to_string(i), draw(), draw(), draw(), draw(), draw()});
  }
  problem.latency = static_cast<double>(random.below(3)) / 10;
  problem.bytes_per_second = random.below(3) == 0 ? 0 : 2;
  problem.memory = random.below(2) == 0 ? 0 : 2 + static_cast<double>(random.below(40));
  problem.recompute = random.below(2) == 0;
  return problem;
}

double messages_of(const Cut& cut) {
  double sum = 0;
  for (const StageEstimate& stage : cut.stages) sum += stage.message_seconds;
  return sum;
}

bool fits(const Cut& cut, const CutProblem& problem) {
  return problem.memory <= 0 || std::ranges::all_of(cut.stages, [&](const StageEstimate& stage) {
           return stage.bytes <= problem.memory;
         });
}

// Tries every set of ends.
void every_cut(std::size_t layers, std::size_t stages, std::vector<std::size_t>& ends,
               const std::function<void()>& visit) {
  if (ends.size() + 1 == stages) {
    ends.push_back(layers);
    visit();
    ends.pop_back();
    return;
  }
  for (std::size_t end = (ends.empty() ? 0 : ends.back()) + 1; end < layers; ++end) {
    ends.push_back(end);
    every_cut(layers, stages, ends, visit);
    ends.pop_back();
  }
}

TEST(Cut, NoneIsBetter) {
  Random random(7, "cuts", 0, 0);
  int impossible = 0, limited = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t layers = 1 + random.below(9), stages = 1 + random.below(layers);
    const CutProblem problem = random_problem(random, layers);
    std::vector<int> in_flight;
    for (std::size_t s = 0; s < stages; ++s) in_flight.push_back(static_cast<int>(stages - s));
    double bottleneck = std::numeric_limits<double>::infinity(), messages = bottleneck;
    std::vector<std::size_t> ends;
    every_cut(layers, stages, ends, [&] {
      const Cut cut = cut_at(problem, ends, in_flight);
      if (!fits(cut, problem)) {
        ++limited;
        return;
      }
      if (std::pair(cut.bottleneck, messages_of(cut)) < std::pair(bottleneck, messages)) {
        bottleneck = cut.bottleneck;
        messages = messages_of(cut);
      }
    });
    const Cut best = best_cut(problem, in_flight);
    if (bottleneck == std::numeric_limits<double>::infinity()) {
      EXPECT_THAT(best.stages, IsEmpty());
      ++impossible;
      continue;
    }
    ASSERT_EQ(best.stages.size(), stages);
    EXPECT_TRUE(fits(best, problem));
    EXPECT_DOUBLE_EQ(best.bottleneck, bottleneck);
    EXPECT_NEAR(messages_of(best), messages, 1e-9);
  }
  EXPECT_GT(impossible, 5);
  EXPECT_GT(limited, 100);
}

TEST(Cut, EstimatesAreWhatTheyAre) {
  CutProblem problem;
  problem.layers = {
      {"a", 1, 2, 10, 100, 1000}, {"b", 2, 3, 20, 200, 2000}, {"c", 4, 5, 0, 300, 3000}};
  problem.latency = 0.5;
  problem.bytes_per_second = 10;
  const Cut cut = cut_at(problem, {2, 3}, {4, 1});
  EXPECT_DOUBLE_EQ(cut.stages[0].seconds, 8);
  EXPECT_DOUBLE_EQ(cut.stages[0].message_seconds, 2 * (0.5 + 2));
  EXPECT_DOUBLE_EQ(cut.stages[0].bytes, 3000 + 4 * (300 + 2 * 20));
  EXPECT_DOUBLE_EQ(cut.stages[1].message_seconds, 0);
  EXPECT_DOUBLE_EQ(cut.bottleneck, 9);
  EXPECT_THAT(best_cut(problem, {1, 1}).ends(), ElementsAre(2, 3));
  problem.recompute = true;
  const Cut again = cut_at(problem, {2, 3}, {4, 1});
  EXPECT_DOUBLE_EQ(again.stages[0].seconds, 8 + 3);
  EXPECT_DOUBLE_EQ(again.stages[1].bytes, 3000 + 300 + 2 * 20);
}

TEST(Cut, WhatIsNoCutIsRefused) {
  CutProblem problem;
  problem.layers.resize(3);
  EXPECT_THROW(best_cut(problem, {1, 1, 1, 1}), ConfigError);
  EXPECT_THROW(best_cut(problem, {}), ConfigError);
  EXPECT_THROW(cut_at(problem, {2, 2, 3}, {1, 1, 1}), ConfigError);
  EXPECT_THROW(cut_at(problem, {1, 2}, {1, 1}), ConfigError);
  EXPECT_THROW(cut_at(problem, {0, 3}, {1, 1}), ConfigError);
  EXPECT_THROW(cut_at(problem, {1, 3}, {1}), ConfigError);
}

}  // namespace
}  // namespace lockstep
