#include "lockstep/pipeline/stage_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::vector<ModelUnit> kUnits{{"a", 10, 0, 4, 8, 1e-3},
                                    {"b", 20, 3, 4, 4, 2e-3},
                                    {"c", 30, 0, 2, 4, 1e-3},
                                    {"d", 5, 2, 1, 1, 2e-3}};

TEST(StagePlan, ProblemsCountTheSamplesOfAMicroBatch) {
  const CutProblem problem = cut_problem(kUnits, {.samples = 3, .state_vectors = 4, .memory = 99},
                                         modelled_times(kUnits, 3), {1e-4, 1e9});
  ASSERT_EQ(problem.layers.size(), 4u);
  EXPECT_DOUBLE_EQ(problem.layers[1].forward, 6e-3);
  EXPECT_DOUBLE_EQ(problem.layers[1].backward, 12e-3);
  EXPECT_EQ(problem.layers[1].sent_bytes, 3 * 4 * 4);
  EXPECT_EQ(problem.layers[0].kept_bytes, 3 * 8 * 4);
  EXPECT_EQ(problem.layers[2].state_bytes, 30 * 4 * 4);
  EXPECT_EQ(problem.memory, 99);
  EXPECT_EQ(problem.latency, 1e-4);
}

// What stages hold of the whole model's vectors lies one behind the other and makes it up.
TEST(StagePlan, SharesMakeUpTheModel) {
  const CutProblem problem = cut_problem(kUnits, {}, modelled_times(kUnits, 1), {});
  const StagePlan plan = plan_of(cut_at(problem, {1, 3, 4}, {1, 1, 1}), kUnits);
  EXPECT_EQ(plan.params, 65u);
  EXPECT_EQ(plan.buffers, 5u);
  ASSERT_EQ(plan.stages.size(), 3u);
  EXPECT_EQ(plan.stages[1].units, (Range{1, 2}));
  EXPECT_EQ(plan.stages[1].params, (Range{10, 50}));
  EXPECT_EQ(plan.stages[1].buffers, (Range{0, 3}));
  EXPECT_EQ(plan.stages[2].params, (Range{60, 5}));
  EXPECT_EQ(plan.stages[2].buffers, (Range{3, 2}));
  EXPECT_EQ(plan.stages[1].first, "b");
  EXPECT_EQ(plan.stages[1].last, "c");
}

TEST(StagePlan, CutsByName) {
  EXPECT_THAT(ends_at({"b", "d"}, kUnits), ElementsAre(1, 3, 4));
  EXPECT_THAT(ends_at({}, kUnits), ElementsAre(4));
  EXPECT_THAT([] { ends_at({"e"}, kUnits); },
              ThrowsMessage<ConfigError>(HasSubstr("unknown unit \"e\"")));
  EXPECT_THAT([] { ends_at({"a"}, kUnits); },  // the first stage begins there anyway
              ThrowsMessage<ConfigError>(HasSubstr("Valid: b, c, d")));
  EXPECT_THAT(
      [] {
        ends_at({"c", "c"}, kUnits);
      },
      ThrowsMessage<ConfigError>(HasSubstr("does not come behind")));
}

// By trying all numbers of stages: what fits is found, and never with fewer.
TEST(StagePlan, FewestStagesAreThoseThatFit) {
  const auto schedule = Registry<PipelineSchedule>::instance().make("1f1b");
  for (const double memory : {1.0, 200.0, 300.0, 420.0, 500.0, 900.0, 2000.0}) {
    const CutProblem problem =
        cut_problem(kUnits, {.samples = 1, .state_vectors = 3, .memory = memory},
                    modelled_times(kUnits, 1), {});
    const int found = fewest_stages(problem, *schedule, 4);
    for (int stages = 1; stages <= 4; ++stages) {
      const bool fits = !best_cut(problem, in_flight(*schedule, stages, 4)).stages.empty();
      EXPECT_TRUE(found == 0 ? !fits : stages >= found || !fits) << memory << ", " << stages;
      EXPECT_TRUE(stages != found || fits) << memory << ", " << stages;
    }
  }
}

}  // namespace
}  // namespace lockstep
