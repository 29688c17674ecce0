#include "lockstep/server/mean_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "tests/server/rule_under_test.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Strategies that want nothing of a server but averages have this rule.
RuleUnderTest mean_rule(int workers, std::size_t size = 2) {
  return make_rule("synchronous", {}, workers, std::vector<float>(size));
}

ServerHeader average(int worker, int members, int group = 0) {
  return {.kind = MeanRule::kAverage, .worker = worker, .clock = members, .version = group};
}

TEST(MeanRule, AnswersAllWhenTheLastHasCome) {
  auto rule = mean_rule(3);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(rule.send(average(2, 3), {1, 10}), IsEmpty());
    EXPECT_THAT(rule.send(average(0, 3), {2, 20}), IsEmpty());
    const auto replies = rule.send(average(1, 3), {6, 60});
    ASSERT_EQ(replies.size(), 3u);
    for (int worker = 0; worker < 3; ++worker) {
      EXPECT_EQ(replies[static_cast<std::size_t>(worker)].worker, worker);
      EXPECT_THAT(replies[static_cast<std::size_t>(worker)].values, ElementsAre(3, 30));
    }
  }
}

TEST(MeanRule, GroupsDoNotMix) {
  auto rule = mean_rule(4);
  EXPECT_THAT(rule.send(average(0, 2, 0), {1, 1}), IsEmpty());
  EXPECT_THAT(rule.send(average(2, 2, 2), {5, 5}), IsEmpty());
  EXPECT_THAT(rule.send(average(3, 2, 2), {7, 7}).at(0).values, ElementsAre(6, 6));
  EXPECT_THAT(rule.send(average(1, 2, 0), {3, 3}).at(1).values, ElementsAre(2, 2));
}

TEST(MeanRule, WhoComesFirstDoesNotChangeABit) {
  constexpr int kWorkers = 4;
  constexpr std::size_t kSize = 9;
  std::vector<std::vector<float>> sent(kWorkers, std::vector<float>(kSize));
  Random random(5, "mean rule");
  for (auto& values : sent) {
    for (auto& value : values) value = static_cast<float>(random.normal());
  }
  std::vector<int> order{0, 1, 2, 3};
  std::vector<float> first;
  do {
    auto rule = mean_rule(kWorkers, kSize);
    std::vector<Reply> replies;
    for (const int worker : order) {
      replies = rule.send(average(worker, kWorkers), sent[static_cast<std::size_t>(worker)]);
    }
    if (first.empty()) first = replies.at(0).values;
    for (const auto& reply : replies) EXPECT_EQ(reply.values, first);
  } while (std::ranges::next_permutation(order).found);
}

TEST(MeanRule, WhatMakesNoSenseIsACommError) {
  EXPECT_THROW(mean_rule(2).send(average(0, 0), {1, 1}), CommError);
  EXPECT_THROW(mean_rule(2).send(average(0, 3), {1, 1}), CommError);
  EXPECT_THROW(mean_rule(2).send({.kind = MeanRule::kAverage + 1, .clock = 2}, {1, 1}), CommError);
  EXPECT_THROW(mean_rule(2).send(average(0, 2), {}), CommError);
  auto rule = mean_rule(2);
  rule.send(average(1, 2), {1, 1});
  EXPECT_THROW(rule.send(average(1, 2), {1, 1}), CommError);
}

// World 0 … 3, household 0 and 1: two have asked for the world's average when the household, which
// is behind them, still averages for itself.
TEST(MeanRule, GroupsInsideOneAnotherDoNotMix) {
  ShardSetup setup;
  const float params[1]{};
  setup.workers = 4;
  setup.params = params;
  MeanRule rule(setup);
  std::map<int, float> answers;
  const auto send = [&](int worker, int group_size, float value) {
    const std::array<float, 1> values{value};
    rule.handle({.kind = MeanRule::kAverage, .worker = worker, .clock = group_size, .version = 0},
                values, AnswerTo([&](int to, const ServerHeader&, std::span<const float> mean) {
                  answers[to] = mean[0];
                }));
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
