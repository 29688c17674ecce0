#include "lockstep/optim/rate_plan.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/base/error.h"
#include "tests/optim/component.h"

namespace lockstep {
namespace {

constexpr Rates kBase{.lr = 0.1, .weight_decay = 0.01};
constexpr double kEpochs = 20;

// The rates at an epoch of 20, with a global batch of 1024.
Rates at_epoch(const std::string& name, const Settings& settings, double epoch) {
  const auto options = component_values<Schedule>(name, settings);
  const auto schedule = Registry<Schedule>::instance().make(name, options);
  return RatePlan(*schedule, options, kBase, 1024, kEpochs).at(epoch / kEpochs, epoch);
}
double lr_at(const std::string& name, const Settings& settings, double epoch) {
  return at_epoch(name, settings, epoch).lr;
}

TEST(RatePlan, WithoutOptionsIsTheSchedule) {
  for (double epoch = 0; epoch <= kEpochs; ++epoch) {
    const Rates rates = at_epoch("polynomial", {}, epoch);
    EXPECT_DOUBLE_EQ(rates.lr, 0.1 * std::pow(1 - epoch / kEpochs, 2));
    EXPECT_EQ(rates.weight_decay, 0.01);
    EXPECT_EQ(rates.epoch, epoch);
  }
}

TEST(RatePlan, ScalesTheRateWithTheBatch) {
  EXPECT_DOUBLE_EQ(lr_at("constant", {{"scale", "linear"}}, 3), 0.4);  // 1024 / 256
  EXPECT_DOUBLE_EQ(lr_at("constant", {{"scale", "linear"}, {"reference_batch", "2048"}}, 3), 0.05);
}

TEST(RatePlan, WarmsUpFromTheUnscaledRateToTheScaledOne) {
  const Settings goyal = {{"scale", "linear"}, {"warmup_epochs", "5"}};
  EXPECT_DOUBLE_EQ(lr_at("constant", goyal, 0), 0.1);
  EXPECT_DOUBLE_EQ(lr_at("constant", goyal, 2.5), 0.25);
  EXPECT_DOUBLE_EQ(lr_at("constant", goyal, 5), 0.4);
  EXPECT_DOUBLE_EQ(lr_at("constant", goyal, 19), 0.4);
}

TEST(RatePlan, WarmsUpFromATenthWhereScalingDoesNotRaiseTheRate) {
  EXPECT_DOUBLE_EQ(lr_at("constant", {{"warmup_epochs", "4"}}, 0), 0.01);
  EXPECT_DOUBLE_EQ(lr_at("constant", {{"warmup_epochs", "4"}}, 2), 0.055);
  EXPECT_DOUBLE_EQ(lr_at("constant", {{"warmup_epochs", "4"}}, 4), 0.1);
  EXPECT_DOUBLE_EQ(
      lr_at("constant", {{"warmup_epochs", "4"}, {"scale", "linear"}, {"reference_batch", "2048"}},
            0),
      0.005);
}

TEST(RatePlan, WarmsUpFromTheGivenFactor) {
  const Settings settings = {{"warmup_epochs", "4"}, {"warmup_from", "0.5"}};
  EXPECT_DOUBLE_EQ(lr_at("constant", settings, 0), 0.05);
  EXPECT_DOUBLE_EQ(lr_at("constant", settings, 3), 0.0875);
}

TEST(RatePlan, MeetsTheScheduleAtTheEndOfWarmUp) {
  for (const auto& name : Registry<Schedule>::instance().names()) {
    const Settings settings = {{"warmup_epochs", "3"}};
    EXPECT_NEAR(lr_at(name, settings, std::nextafter(3.0, 0)), lr_at(name, {}, 3), 1e-12) << name;
    EXPECT_EQ(lr_at(name, settings, 3), lr_at(name, {}, 3)) << name;
  }
}

TEST(RatePlan, WeightDecayDoesAsItIsTold) {
  const auto decay = [](const std::string& mode, double epoch) {
    return at_epoch("final-collapse", {{"weight_decay", mode}, {"collapse_from", "0.4"}}, epoch)
        .weight_decay;
  };
  EXPECT_DOUBLE_EQ(decay("scheduled", 0), 0.005);
  EXPECT_DOUBLE_EQ(decay("scheduled", 18), 0.02);
  EXPECT_DOUBLE_EQ(decay("constant", 0), 0.01);
  EXPECT_DOUBLE_EQ(decay("constant", 18), 0.01);
  EXPECT_DOUBLE_EQ(decay("with-rate", 0), 0.01);
  EXPECT_NEAR(decay("with-rate", 16), 0.004, 1e-15);
}

TEST(RatePlan, GivesTheFactorOfTheBatch) {
  const auto options =
      component_values<Schedule>("growing-batch", {{"factor", "0.5"}, {"scale", "linear"}});
  const auto schedule = Registry<Schedule>::instance().make("growing-batch", options);
  const RatePlan plan(*schedule, options, kBase, 512, kEpochs);
  EXPECT_EQ(plan.batch_factor(0.1, 2), 1);
  EXPECT_EQ(plan.batch_factor(0.5, 10), 2);
  EXPECT_EQ(plan.batch_factor(0.75, 15), 4);
  EXPECT_EQ(plan.at(0.1, 2).lr, plan.at(0.75, 15).lr);
}

TEST(RatePlan, RefusesAWarmUpLongerThanTraining) {
  EXPECT_THROW(at_epoch("constant", {{"warmup_epochs", "21"}}, 0), ConfigError);
  EXPECT_NO_THROW(at_epoch("constant", {{"warmup_epochs", "20"}}, 0));
}

}  // namespace
}  // namespace lockstep
