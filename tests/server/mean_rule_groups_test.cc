#include "lockstep/server/mean_rule.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace lockstep {
namespace {

// World 0 … 3, household 0 and 1: two have asked for the world's average when the household, which
// is behind them, still averages for itself.
TEST(MeanRule, GroupsInsideOneAnotherDoNotMix) {
  ShardSetup setup;
  setup.workers = 4;
  MeanRule rule(setup);
  std::map<int, float> answers;
  const auto send = [&](int worker, int group_size, float value) {
    const std::array<float, 1> values{value};
    rule.handle(
        {.kind = MeanRule::kAverage, .worker = worker, .clock = group_size, .version = 0}, values,
        [&](int to, const ServerHeader&, std::span<const float> mean) { answers[to] = mean[0]; });
  };
  send(2, 4, 10);
  send(3, 4, 20);
  send(0, 2, 1);
  EXPECT_TRUE(answers.empty());
  send(1, 2, 3);
  EXPECT_EQ(answers, (std::map<int, float>{{0, 2}, {1, 2}}));
  send(0, 4, 2);
  send(1, 4, 4);
  EXPECT_EQ(answers, (std::map<int, float>{{0, 9}, {1, 9}, {2, 9}, {3, 9}}));
}

}  // namespace
}  // namespace lockstep
