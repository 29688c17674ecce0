#include "lockstep/assign/epochs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

TEST(Epochs, OverlapNeedsFewer) {
  EXPECT_EQ(overlap_epochs(182, 1), 182);
  EXPECT_EQ(overlap_epochs(182, 4), 46);
  EXPECT_EQ(overlap_epochs(182, 16), 12);
  EXPECT_EQ(effective_epochs(182, 4), 184);
  EXPECT_EQ(effective_epochs(182, 16), 192);
}

TEST(Epochs, ValidationComesAfterAsManyStepsAsAnEpochWithoutOverlapHas) {
  EXPECT_EQ(validation_interval(45'000, 128), 352);
  EXPECT_EQ(validation_interval(128, 128), 1);
}

TEST(Epochs, TheWorkedCaseOfHouseholds) {
  const std::int64_t batch = household_local_batch(128, 16, 8, 128);
  EXPECT_EQ(batch, 61);
  EXPECT_EQ(training_steps(45'000, 16, batch, 182), 8554);
  EXPECT_EQ(world_synchronizations(8554, 128), 67);
}

TEST(Epochs, HouseholdsThatSynchronizeEveryStepAreOneWorld) {
  EXPECT_EQ(household_local_batch(128, 16, 8, 1), 8);
  EXPECT_DOUBLE_EQ(household_rate_factor(8, 1), 1);
  EXPECT_DOUBLE_EQ(household_rate_factor(1, 128), 1);
  EXPECT_DOUBLE_EQ(household_rate_factor(8, 128), 1024.0 / 135);
  EXPECT_THROW(household_local_batch(4, 16, 8, 1), ConfigError);
}

TEST(Epochs, GlobalAndLocalBatch) {
  EXPECT_EQ(local_batch_of(128, 16), 8);
  EXPECT_EQ(global_batch_of(8, 16), 128);
  try {
    local_batch_of(100, 16);
    ADD_FAILURE() << "100 / 16";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the nearest are 96 and 112"));
  }
  try {
    local_batch_of(10, 16);
    ADD_FAILURE() << "10 / 16";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the nearest is 16"));
  }
  EXPECT_THROW(local_batch_of(0, 16), ConfigError);
  EXPECT_THROW(global_batch_of(-1, 16), ConfigError);
}

}  // namespace
}  // namespace lockstep
