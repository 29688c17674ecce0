#include "lockstep/optim/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lockstep/base/error.h"
#include "tests/optim/component.h"

namespace lockstep {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;

// The rates at 0, 1/4, 1/2, 3/4 and 1 of training.
std::vector<double> quarters(const Schedule& schedule) {
  std::vector<double> rates;
  for (const double progress : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    rates.push_back(schedule.at(progress, 100 * progress).lr);
  }
  return rates;
}

TEST(Schedules, AreAllThereWithTheCommonOptions) {
  auto& registry = Registry<Schedule>::instance();
  const OptionSet common_options = schedule_options();
  EXPECT_THAT(registry.names(),
              ElementsAre("collapsed-ensemble", "constant", "cosine", "final-collapse",
                          "growing-batch", "polynomial", "slow-start", "step"));
  for (const auto& item : registry.items()) {
    for (const auto& common : common_options.all()) {
      EXPECT_NO_THROW(item.options.at(common.name(), item.name));
    }
  }
}

TEST(Schedules, NeverRiseAndStayBetweenZeroAndOne) {
  for (const auto& name : Registry<Schedule>::instance().names()) {
    if (name == "collapsed-ensemble") continue;  // starts again on purpose: see below
    const auto schedule = make_component<Schedule>(name);
    double before = 1;
    for (int i = 0; i <= 1000; ++i) {
      const auto point = schedule->at(i / 1000.0, i / 10.0);
      EXPECT_LE(point.lr, before) << name << " at " << i;
      EXPECT_GE(point.lr, 0) << name << " at " << i;
      before = point.lr;
    }
    EXPECT_TRUE(schedule->snapshots().empty()) << name;
  }
}

TEST(Schedules, OnlyCollapsesChangeWeightDecayAndOnlyGrowingBatchTheBatch) {
  for (const auto& name : Registry<Schedule>::instance().names()) {
    const auto point = make_component<Schedule>(name)->at(0.9, 90);
    EXPECT_EQ(point.weight_decay != 1, name.find("collapse") == 0 || name == "final-collapse")
        << name;
    EXPECT_EQ(point.batch != 1, name == "growing-batch") << name;
  }
}

TEST(Constant, IsOne) {
  EXPECT_THAT(quarters(*make_component<Schedule>("constant")), ElementsAre(1, 1, 1, 1, 1));
}

TEST(Step, FallsWhereItsPointsAre) {
  const auto step = make_component<Schedule>("step");
  EXPECT_THAT(quarters(*step),
              ElementsAre(1, 1, DoubleEq(0.1), DoubleNear(0.01, 1e-15), DoubleNear(0.01, 1e-15)));
  EXPECT_EQ(step->at(std::nextafter(0.5, 0), 50).lr, 1);
  EXPECT_THAT(quarters(*make_component<Schedule>("step", {{"at", ""}})),
              ElementsAre(1, 1, 1, 1, 1));
}

TEST(Step, ReachesAPointInTheStepThatHasItsFraction) {
  const auto step = make_component<Schedule>("step", {{"at", "0.1,0.3,0.7"}, {"factor", "0.5"}});
  EXPECT_EQ(step->at(9.0 / 100, 0).lr, 1);
  EXPECT_EQ(step->at(10.0 / 100, 0).lr, 0.5);
  EXPECT_EQ(step->at(30.0 / 100, 0).lr, 0.25);
  EXPECT_EQ(step->at(70.0 / 100, 0).lr, 0.125);
}

TEST(Step, RefusesPointsThatDoNotRise) {
  EXPECT_THROW(make_component<Schedule>("step", {{"at", "0.7,0.5"}}), ConfigError);
  EXPECT_THROW(make_component<Schedule>("step", {{"at", "0.5,0.5"}}), ConfigError);
  EXPECT_THROW(make_component<Schedule>("step", {{"at", "0.5,1.5"}}), ConfigError);
}

TEST(Cosine, IsHalfACosine) {
  const double r = std::sqrt(0.5);
  EXPECT_THAT(quarters(*make_component<Schedule>("cosine")),
              ElementsAre(1, DoubleEq(0.5 + r / 2), DoubleEq(0.5), DoubleEq(0.5 - r / 2),
                          DoubleNear(0, 1e-15)));
  EXPECT_NEAR(make_component<Schedule>("cosine", {{"end", "0.2"}})->at(1, 1).lr, 0.2, 1e-15);
  EXPECT_NEAR(make_component<Schedule>("cosine", {{"end", "0.2"}})->at(0.5, 1).lr, 0.6, 1e-15);
}

TEST(Polynomial, IsAPowerOfWhatIsLeft) {
  EXPECT_THAT(quarters(*make_component<Schedule>("polynomial")),
              ElementsAre(1, 0.5625, 0.25, 0.0625, 0));
  EXPECT_THAT(quarters(*make_component<Schedule>("polynomial", {{"power", "1"}, {"end", "0.5"}})),
              ElementsAre(1, 0.875, 0.75, 0.625, 0.5));
}

TEST(FinalCollapse, IsALineAndThenAPower) {
  const auto schedule = make_component<Schedule>(
      "final-collapse", {{"collapse_at", "0.5"}, {"collapse_from", "0.4"}, {"power", "2"}});
  EXPECT_THAT(quarters(*schedule), ElementsAre(1, DoubleEq(0.7), DoubleEq(0.4), DoubleEq(0.1), 0));
  EXPECT_EQ(schedule->at(0.49, 0).weight_decay, 0.5);
  EXPECT_EQ(schedule->at(0.5, 0).weight_decay, 2);
}

TEST(CollapsedEnsemble, StartsAgainAfterEachSnapshot) {
  const auto schedule = make_component<Schedule>("collapsed-ensemble", {{"cycles", "3"},
                                                                        {"first", "0.5"},
                                                                        {"restart", "0.5"},
                                                                        {"collapse_at", "0.5"},
                                                                        {"collapse_from", "0.4"}});
  EXPECT_THAT(schedule->snapshots(), ElementsAre(0.5, 0.75, 1));
  EXPECT_THAT(quarters(*schedule), ElementsAre(1, DoubleEq(0.4), 0.5, 0.5, 0));
  for (const double end : schedule->snapshots()) {
    EXPECT_NEAR(schedule->at(std::nextafter(end, 0), 0).lr, 0, 1e-12);
  }
  EXPECT_DOUBLE_EQ(schedule->at(0.625, 0).lr, 0.2);
}

TEST(CollapsedEnsemble, OfOneCycleIsAFinalCollapse) {
  const auto one = make_component<Schedule>("collapsed-ensemble", {{"cycles", "1"}});
  const auto collapse = make_component<Schedule>("final-collapse");
  EXPECT_EQ(quarters(*one), quarters(*collapse));
  EXPECT_THAT(one->snapshots(), ElementsAre(1));
}

TEST(SlowStart, HasThePhasesOfThePaper) {
  const auto schedule = make_component<Schedule>("slow-start");
  const auto at_epoch = [&](double epoch) { return schedule->at(epoch / 90, epoch).lr; };
  EXPECT_EQ(at_epoch(0), 0.5);
  EXPECT_EQ(at_epoch(39.9), 0.5);
  EXPECT_EQ(at_epoch(40), 0.075);
  EXPECT_EQ(at_epoch(70), 0.01);
  EXPECT_EQ(at_epoch(85), 0.001);
  EXPECT_EQ(at_epoch(90), 0.001);
  EXPECT_THROW(make_component<Schedule>("slow-start", {{"at", "0.5"}}), ConfigError);
}

TEST(GrowingBatch, KeepsRateOverBatchOnTheCurveOfStep) {
  const Settings settings = {{"at", "0.3,0.6,0.8"}, {"factor", "0.2"}};
  auto growing_settings = settings;
  growing_settings.emplace_back("most", "30");
  const auto growing = make_component<Schedule>("growing-batch", growing_settings);
  const auto step = make_component<Schedule>("step", settings);
  for (int i = 0; i <= 100; ++i) {
    const auto point = growing->at(i / 100.0, i);
    EXPECT_NEAR(point.lr / point.batch, step->at(i / 100.0, i).lr, 1e-15);
    EXPECT_LE(point.batch, 30);
  }
  EXPECT_DOUBLE_EQ(growing->at(0.3, 0).batch, 5);
  EXPECT_DOUBLE_EQ(growing->at(0.3, 0).lr, 1);
  EXPECT_DOUBLE_EQ(growing->at(0.6, 0).batch, 25);
  EXPECT_DOUBLE_EQ(growing->at(0.8, 0).batch, 30);
  EXPECT_DOUBLE_EQ(growing->at(0.8, 0).lr, 30.0 / 125);
}

}  // namespace
}  // namespace lockstep
