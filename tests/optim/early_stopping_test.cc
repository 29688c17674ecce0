#include "lockstep/optim/early_stopping.h"

#include <cmath>

#include "tests/optim/memory_state.h"

namespace lockstep {
namespace {

TEST(EarlyStopping, StopsAfterSoManyValidationsWithoutImprovement) {
  EarlyStopping stopping(3, 0);
  EXPECT_TRUE(stopping.record(0.5));
  EXPECT_FALSE(stopping.record(0.4));
  EXPECT_FALSE(stopping.record(0.5));
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_TRUE(stopping.record(0.6));
  for (const double value : {0.1, 0.2}) EXPECT_FALSE(stopping.record(value));
  EXPECT_FALSE(stopping.should_stop());
  EXPECT_FALSE(stopping.record(0.6));
  EXPECT_TRUE(stopping.should_stop());
  EXPECT_EQ(stopping.best(), 0.6);
  EXPECT_EQ(stopping.since_best(), 3);
}

TEST(EarlyStopping, LowerIsBetterForALoss) {
  EarlyStopping stopping(1, 0, EarlyStopping::Better::kLower);
  EXPECT_TRUE(stopping.record(2));
  EXPECT_TRUE(stopping.record(1));
  EXPECT_FALSE(stopping.record(1.5));
  EXPECT_TRUE(stopping.should_stop());
  EXPECT_EQ(stopping.best(), 1);
}

TEST(EarlyStopping, SmallImprovementsDoNotCountButMayAddUp) {
  EarlyStopping stopping(2, 0.125);
  EXPECT_TRUE(stopping.record(0));
  EXPECT_FALSE(stopping.record(0.125));
  EXPECT_TRUE(stopping.record(0.25));
}

TEST(EarlyStopping, PatienceOfZeroNeverStops) {
  EarlyStopping stopping(0, 0);
  for (int i = 0; i < 100; ++i) stopping.record(-i);
  EXPECT_FALSE(stopping.should_stop());
}

TEST(EarlyStopping, NanIsNeverBetter) {
  EarlyStopping stopping(2, 0);
  EXPECT_FALSE(stopping.record(std::nan("")));
  EXPECT_TRUE(stopping.record(-1e300));
  EXPECT_FALSE(stopping.record(std::nan("")));
}

TEST(EarlyStopping, RestoredGoesOnWhereItWas) {
  EarlyStopping stopping(2, 0);
  stopping.record(0.7);
  stopping.record(0.6);
  MemoryState state;
  stopping.state(state);
  state.restore();
  EarlyStopping resumed(2, 0);
  resumed.state(state);
  EXPECT_EQ(resumed.best(), 0.7);
  EXPECT_FALSE(resumed.record(0.65));
  EXPECT_TRUE(resumed.should_stop());
}

}  // namespace
}  // namespace lockstep
