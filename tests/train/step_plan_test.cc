#include "lockstep/train/step_plan.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::size_t eight(double) {
  return 8;
}

TEST(StepPlan, ALastShortBatchCompletesTheEpoch) {
  const StepPlan plan(20, 2, 0, eight);
  EXPECT_EQ(plan.steps(), 6);
  EXPECT_EQ(plan.at(2).epoch, 0);
  EXPECT_EQ(plan.at(3).epoch, 1);
  EXPECT_EQ(plan.at(3).index, 0);
  EXPECT_EQ(plan.at(3).epochs, 1);
  EXPECT_EQ(plan.at(3).progress, 0.5);
  EXPECT_EQ(plan.at(6).progress, 1);
}

TEST(StepPlan, FractionsOfAnEpochAreSteps) {
  EXPECT_EQ(StepPlan(80, 1.5, 0, eight).steps(), 15);
  EXPECT_EQ(StepPlan(80, 0.001, 0, eight).steps(), 1);
  EXPECT_EQ(StepPlan(80, 0.5, 0, eight).at(5).progress, 1);
}

TEST(StepPlan, StepsMayBeLimited) {
  EXPECT_EQ(StepPlan(80, 10, 25, eight).steps(), 25);
  EXPECT_EQ(StepPlan(80, 10, 25, eight).at(25).epochs, 2.5);
}

TEST(StepPlan, BeyondTheEndEpochsGoOn) {
  // Ten steps an epoch; by epochs, by a part of one, and by a limit within the first of three.
  for (const StepPlan& plan : {StepPlan(80, 1, 0, eight), StepPlan(80, 0.5, 0, eight),
                               StepPlan(80, 3, 4, eight), StepPlan(80, 3, 10, eight)}) {
    for (std::int64_t step = 0; step < 60; ++step) {
      const StepPosition at = plan.at_or_beyond(step);
      EXPECT_EQ(at.epoch, step / 10);
      EXPECT_EQ(at.index, step % 10);
      EXPECT_EQ(at.local_batch, 8u);
      if (step < plan.steps()) {
        EXPECT_EQ(at.progress, plan.at(step).progress);
      } else {
        EXPECT_EQ(at.progress, 1);
      }
    }
  }
}

TEST(StepPlan, ABatchThatGrowsMakesShorterEpochs) {
  const StepPlan plan(64, 4, 0, [](double progress) { return progress < 0.5 ? 8 : 16; });
  EXPECT_EQ(plan.steps(), 8 + 8 + 4 + 4);
  EXPECT_EQ(plan.at(15).local_batch, 8u);
  EXPECT_EQ(plan.at(16).local_batch, 16u);
  EXPECT_EQ(plan.at(20).epoch, 3);
  EXPECT_EQ(plan.steps_in_epoch(3), 4);
}

TEST(StepPlan, PositionsNeverGoBack) {
  const StepPlan plan(37, 3.3, 0, [](double progress) { return progress < 0.4 ? 5 : 9; });
  for (std::int64_t step = 1; step <= plan.steps(); ++step) {
    EXPECT_GT(plan.at(step).progress, plan.at(step - 1).progress);
    EXPECT_LE(plan.at(step).progress, 1);
  }
}

}  // namespace
}  // namespace lockstep
