#include "lockstep/assign/batch_plan.h"

#include <gtest/gtest.h>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using Slice = BatchPlan::Slice;
using Sizes = std::vector<std::size_t>;

TEST(BatchPlan, AllTakeAsManyStepsAsTheLargestShardNeeds) {
  const BatchPlan plan({10, 4, 7}, 4);
  EXPECT_EQ(plan.steps(), 3);
  EXPECT_EQ(plan.sizes(0), (Sizes{4, 4, 4}));
  EXPECT_EQ(plan.sizes(1), (Sizes{4, 0, 3}));
  EXPECT_EQ(plan.sizes(2), (Sizes{2, 0, 0}));
  EXPECT_EQ(plan.global_size(1), 7u);
  EXPECT_EQ(plan.slice(2, 1), (Slice{4, 3}));
  EXPECT_EQ(plan.slice(1, 2), (Slice{4, 0}));
}

TEST(BatchPlan, EverySampleOfEveryShardIsInOneBatch) {
  for (const std::size_t batch : {1u, 2u, 5u, 13u}) {
    const Sizes shards{13, 12, 1, 7};
    const BatchPlan plan(shards, batch);
    for (int w = 0; w < 4; ++w) {
      std::size_t at = 0;
      for (std::int64_t step = 0; step < plan.steps(); ++step) {
        EXPECT_EQ(plan.slice(w, step).begin, at);
        at += plan.slice(w, step).size;
      }
      EXPECT_EQ(at, shards[static_cast<std::size_t>(w)]);
    }
  }
}

TEST(BatchPlan, ABatchLargerThanEveryShardIsRefused) {
  EXPECT_THROW(BatchPlan({10, 4}, 11), ConfigError);
  EXPECT_THROW(BatchPlan({10, 4}, 0), ConfigError);
  EXPECT_EQ(BatchPlan({10, 4}, 10).steps(), 1);
}

}  // namespace
}  // namespace lockstep
