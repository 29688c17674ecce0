// Which compressor for which layer and when, and what becomes of what was held back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/compress/compression.h"
#include "lockstep/compress/model_stream.h"
#include "tests/compress/vectors.h"

namespace lockstep {
namespace {

using testing::ElementsAre;

CompressionPlan plan_of(const std::string& name,
                        const std::vector<std::pair<std::string, std::string>>& own = {},
                        const std::vector<std::pair<std::string, std::string>>& settings = {}) {
  Options options = Registry<Compressor>::instance().options(name);
  for (const auto& [key, value] : settings) options.set(key, value);
  Options section(compress_options(), "[compress]");
  for (const auto& [key, value] : own) section.set(key, value);
  return CompressionPlan(name, options, section);
}

std::vector<std::string> lanes_of(const CompressionPlan& plan, std::size_t phase = 0) {
  std::vector<std::string> lanes;
  for (const auto& lane : plan.lanes(phase, some_layers())) {
    std::string text = lane.name + ":";
    for (const Layer& layer : lane.layers) text += " " + layer.name;
    lanes.push_back(text);
  }
  return lanes;
}

TEST(CompressionPlan, LeavesSmallLayersAlone) {
  EXPECT_THAT(lanes_of(plan_of("topk")), ElementsAre("topk: conv linear", "none: norm bias"));
  EXPECT_THAT(lanes_of(plan_of("topk", {{"plain_below", "0"}})),
              ElementsAre("topk: conv norm linear bias"));
}

TEST(CompressionPlan, GoesByRules) {
  EXPECT_THAT(
      lanes_of(plan_of("powersgd", {{"plain_below", "0"},
                                    {"rules", "norm=none,vector=fp16,c*=topk(ratio=0.5)"}})),
      ElementsAre("topk: conv", "none: norm", "powersgd: linear", "fp16: bias"));
  const auto plan = plan_of("powersgd", {{"rules", "nothing*=none"}});
  EXPECT_THAT([&] { plan.check_rules(some_layers()); },
              testing::ThrowsMessage<ConfigError>(testing::HasSubstr("nothing*")));
  EXPECT_THROW(plan_of("powersgd", {{"rules", "norm=nonsense"}}), ConfigError);
  EXPECT_THROW(plan_of("powersgd", {{"rules", "norm"}}), ConfigError);
}

TEST(CompressionPlan, ChangesWithTheEpoch) {
  const auto plan =
      plan_of("topk", {{"from_epoch", "2"}, {"schedule", "10=fp16,5=qsgd(levels=9)"}});
  EXPECT_EQ(plan.names(), "none, then topk, then qsgd, then fp16");
  EXPECT_EQ(plan.phase_at(0), 0u);
  EXPECT_EQ(plan.phase_at(1.99), 0u);
  EXPECT_EQ(plan.phase_at(2), 1u);
  EXPECT_EQ(plan.phase_at(7), 2u);
  EXPECT_EQ(plan.phase_at(100), 3u);
  EXPECT_THAT(lanes_of(plan, 0), ElementsAre("none: conv norm linear bias"));
  EXPECT_THROW(plan_of("topk", {{"schedule", "3=fp16,3=qsgd"}}), ConfigError);
  EXPECT_FALSE(plan_of("none").compresses());
}

// All that goes in comes out, also over a change of compressors.
TEST(Compression, WhatWasHeldBackGoesOutWithTheNext) {
  const auto plan = plan_of("topk", {{"schedule", "1=none"}});
  Compression sender(plan, some_layers(), 1, 0, Feedback::kPlanned),
      receiver(plan, some_layers(), 1, 0, Feedback::kNone);
  Vector sum(kLength), given(kLength);
  for (const double epoch : {0.0, 0.5, 1.0}) {
    Vector values = normal_vector(kLength, static_cast<std::uint64_t>(10 * epoch));
    for (std::size_t i = 561; i < 600; ++i) values[i] = 0;  // of no layer
    for (std::size_t i = 0; i < kLength; ++i) given[i] += values[i];
    Bytes message;
    sender.encode(values, epoch, message);
    receiver.add(message.view(), 1, sum);
  }
  for (std::size_t i = 0; i < kLength; ++i) ASSERT_NEAR(sum[i], given[i], 1e-5);
}

TEST(Compression, RefusesOtherVersionsAndPhases) {
  const auto plan = plan_of("topk");
  Compression compression(plan, some_layers(), 1, 0, Feedback::kPlanned);
  Bytes message;
  compression.encode(normal_vector(kLength, 1), 0, message);
  Vector sum(kLength);
  for (const std::size_t at : {0u, 1u, 2u}) {
    std::vector<std::byte> other(message.view().begin(), message.view().end());
    other[at] = std::byte{9};
    EXPECT_THROW(compression.add(other, 1, sum), CommError) << at;
  }
}

// Both ends know the same to the bit, and come nearer to the model with every message.
TEST(ModelStream, BringsBothEndsToTheModel) {
  for (const std::string& name : Registry<Compressor>::instance().names()) {
    const auto plan = plan_of(name, {{"plain_below", "0"}});
    const Vector start = normal_vector(kLength, 1);
    Vector model = normal_vector(kLength, 2);
    for (std::size_t i = 561; i < 600; ++i) model[i] = start[i];
    ModelStream sender(plan, some_layers(), start, 1, 0),
        receiver(plan, some_layers(), start, 1, 1);
    double left = 1e30;
    for (int i = 0; i < 20; ++i) {
      Bytes message;
      const double now = sender.encode(model, 0, message);
      EXPECT_LE(now, left * 1.0001) << name;
      left = now;
      receiver.take(message.view());
      EXPECT_TRUE(std::ranges::equal(sender.known(), receiver.known())) << name;
    }
    EXPECT_LT(left, 0.95 * 2 * static_cast<double>(kLength)) << name;
  }
}

}  // namespace
}  // namespace lockstep
