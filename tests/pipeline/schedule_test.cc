// Laws of every pipeline schedule, and the figures that their papers promise.
#include "lockstep/pipeline/schedule.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/pipeline/slot_table.h"

namespace lockstep {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<PipelineSchedule> make(const std::string& name) {
  return Registry<PipelineSchedule>::instance().make(name);
}

std::vector<StageTimes> equal(int stages, double forward = 1, double backward = 1) {
  return std::vector<StageTimes>(static_cast<std::size_t>(stages), {forward, backward, 0});
}

class EverySchedule : public testing::TestWithParam<std::string> {};

TEST_P(EverySchedule, TakesEveryMicrobatchForwardOnceAndThenBackOnce) {
  const auto schedule = make(GetParam());
  for (const int stages : {1, 2, 3, 4, 7}) {
    for (const int microbatches : {1, 2, 3, 8, 13}) {
      for (int stage = 0; stage < stages; ++stage) {
        const auto operations = schedule->operations(stage, stages, microbatches);
        EXPECT_EQ(operations.size(), static_cast<std::size_t>(2 * microbatches));
        int back = 0;
        for (int i = 0; i < microbatches; ++i) {
          const auto forward =
              std::ranges::find(operations, PipelineOp{PipelineOp::Kind::kForward, i});
          const auto backward =
              std::ranges::find(operations, PipelineOp{PipelineOp::Kind::kBackward, i});
          ASSERT_NE(backward, operations.end());
          EXPECT_LT(forward, backward);
        }
        for (const PipelineOp& op : operations) {
          if (op.kind == PipelineOp::Kind::kBackward) {
            EXPECT_EQ(op.microbatch, back++) << "gradients are summed in this order";
          }
        }
      }
    }
  }
}

TEST_P(EverySchedule, NeverWaitsForItselfWhateverTheTimes) {
  const auto schedule = make(GetParam());
  for (const int microbatches : {1, 2, 5, 9}) {
    const std::vector<StageTimes> uneven{{1, 3, 2}, {5, 0.5, 0}, {0, 1, 7}, {2, 2, 0}};
    const SlotTable table = slot_table(*schedule, microbatches, uneven);
    for (std::size_t s = 0; s < uneven.size(); ++s) {
      double free = 0;
      for (const Slot& slot : table.stages[s]) {
        EXPECT_GE(slot.begin, free) << "one operation at a time";
        free = slot.end;
        const bool forward = slot.op.kind == PipelineOp::Kind::kForward;
        if (forward ? s == 0 : s + 1 == uneven.size()) continue;
        const std::size_t from = forward ? s - 1 : s + 1;
        const auto source = std::ranges::find(table.stages[from], slot.op, &Slot::op);
        EXPECT_GE(slot.begin, source->end + uneven[std::min(s, from)].send_next)
            << "what it needs has arrived";
      }
    }
    EXPECT_GE(table.idle_share(), 0);
  }
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  return "s" + info.param;
}
INSTANTIATE_TEST_SUITE_P(All, EverySchedule,
                         testing::ValuesIn(Registry<PipelineSchedule>::instance().names()),
                         name_of);

TEST(Schedules, IdleAsTheyPromise) {
  for (const int stages : {1, 2, 4, 8}) {
    for (const int microbatches : {1, 2, 8, 32}) {
      for (const double backward : {1.0, 2.0, 3.0}) {
        const auto times = equal(stages, 1, backward);
        for (const char* name : {"gpipe", "1f1b"}) {
          EXPECT_NEAR(slot_table(*make(name), microbatches, times).idle_share(),
                      ideal_idle_share(stages, microbatches), 1e-12)
              << name << " " << stages << " " << microbatches;
        }
        EXPECT_NEAR(slot_table(*make("sequential"), microbatches, times).idle_share(),
                    1 - 1.0 / stages, 1e-12);
      }
    }
  }
}

TEST(Schedules, MessagesTakeTheirTime) {
  // F 1, message 2, F 1, B 3, message 2, B 3.
  EXPECT_DOUBLE_EQ(slot_table(*make("gpipe"), 1, {{1, 3, 2}, {1, 3, 0}}).makespan, 12);
  // The second micro-batch's messages are on their way while the first is worked on.
  EXPECT_DOUBLE_EQ(slot_table(*make("gpipe"), 2, {{1, 1, 2}, {1, 1, 0}}).makespan, 10);
}

TEST(Schedules, KeepTheActivationsThatTheyPromise) {
  EXPECT_THAT(slot_table(*make("gpipe"), 8, equal(4)).peak_activations, Each(8));
  EXPECT_THAT(slot_table(*make("1f1b"), 8, equal(4)).peak_activations, ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(slot_table(*make("1f1b"), 2, equal(4)).peak_activations, ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(slot_table(*make("sequential"), 8, equal(4)).peak_activations, Each(1));
}

TEST(Schedules, TheTableIsTheOneOfTheBook) {
  EXPECT_EQ(to_text(slot_table(*make("1f1b"), 3, equal(2))),
            "    slot   1  2  3  4  5  6  7  8\n"
            " stage 0  F0 F1 .. B0 F2 B1 .. B2\n"
            " stage 1  .. F0 B0 F1 B1 F2 B2 ..\n");
  EXPECT_THAT(to_text(slot_table(*make("gpipe"), 50, equal(2)), 10), HasSubstr(" …\n"));
}

TEST(Schedules, OneThatWaitsForItselfIsFound) {
  struct Backwards : PipelineSchedule {
    std::vector<PipelineOp> operations(int, int, int) const override {
      return {{PipelineOp::Kind::kBackward, 0}, {PipelineOp::Kind::kForward, 0}};
    }
  };
  EXPECT_THROW(slot_table(Backwards(), 1, equal(2)), InternalError);
}

}  // namespace
}  // namespace lockstep
