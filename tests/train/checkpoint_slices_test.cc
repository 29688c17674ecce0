#include "lockstep/train/checkpoint_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

ValueDigest floats(const std::string& name, std::size_t count, const std::string& hash) {
  return {name, StateKind::kFloats, count, hash};
}
ValueDigest number(const std::string& name, const std::string& hash) {
  return {name, StateKind::kInteger, 1, hash};
}

// Two stages of 6 and 4 parameters, with 1 and 2 buffers.
StagePlan two_stages() {
  StagePlan plan;
  plan.stages.resize(2);
  plan.stages[0].params = {0, 6};
  plan.stages[1].params = {6, 4};
  plan.stages[0].buffers = {0, 1};
  plan.stages[1].buffers = {1, 2};
  plan.params = 10;
  plan.buffers = 3;
  return plan;
}

TEST(StoredNames, OfAWholeModelAreItsOwn) {
  const auto names = stored_names({{floats("params", 6, "x"), number("step", "1")},
                                   {floats("params", 6, "y"), number("step", "1")}},
                                  nullptr);
  EXPECT_THAT(names.joined, IsEmpty());
  EXPECT_THAT(names.common, ElementsAre("step"));
  EXPECT_THAT(names.own[1], UnorderedElementsAre(Pair("params", "params"), Pair("step", "step")));
}

TEST(StoredNames, VectorsOfAllStagesAreJoined) {
  const StagePlan plan = two_stages();
  // Ranks: stage 0 of workers 0 and 1, then stage 1 of them.
  const auto names =
      stored_names({{floats("params", 6, "a"), floats("buffers", 1, "b"), number("step", "1"),
                     number("time", "t0")},
                    {floats("params", 6, "a"), floats("buffers", 1, "b2"), number("step", "1"),
                     number("time", "t1")},
                    {floats("params", 4, "c"), floats("buffers", 2, "d"), number("step", "1"),
                     number("time", "t2"), number("only", "o")},
                    {floats("params", 4, "c"), floats("buffers", 2, "d"), number("step", "1"),
                     number("time", "t1"), number("only", "o")}},
                   &plan);
  EXPECT_THAT(names.joined, UnorderedElementsAre("params", "buffers"));
  EXPECT_THAT(names.common, UnorderedElementsAre("params", "step", "only"));
  EXPECT_THAT(names.own[0], UnorderedElementsAre(Pair("step", "step"), Pair("time", "time")));
  EXPECT_THAT(names.own[2],
              UnorderedElementsAre(Pair("time", "stage1/time"), Pair("only", "only")));
  EXPECT_THAT(names.own[3], UnorderedElementsAre(Pair("only", "only")));  // time is as before it
}

// A vector that is not as long as the parameters in every stage belongs to its stage.
TEST(StoredNames, OtherVectorsStayApart) {
  const StagePlan plan = two_stages();
  const auto names =
      stored_names({{floats("residual", 6, "a")}, {floats("residual", 3, "b")}}, &plan);
  EXPECT_THAT(names.joined, IsEmpty());
  EXPECT_THAT(names.own[1], ElementsAre(Pair("residual", "stage1/residual")));
}

class TakenValues : public testing::Test {
 protected:
  static std::vector<std::string> texts(const std::vector<TakenValue>& values) {
    std::vector<std::string> all;
    for (const auto& v : values) {
      all.push_back(v.name + " " + std::to_string(v.offset) + "+" + std::to_string(v.size));
    }
    return all;
  }
  // Of a run with two workers; offsets as the writer sets them.
  const CheckpointIndex index_{{},
                               {{"params", StateKind::kFloats, 10, kEveryRank, 0},
                                {"step", StateKind::kInteger, 1, kEveryRank, 40},
                                {"buffers", StateKind::kFloats, 3, 0, 48},
                                {"time", StateKind::kInteger, 1, 0, 60},
                                {"stage1/time", StateKind::kInteger, 1, 0, 68},
                                {"buffers", StateKind::kFloats, 3, 1, 76},
                                {"time", StateKind::kInteger, 1, 1, 88},
                                {"stages/odd", StateKind::kInteger, 1, 1, 96}}};
};

TEST_F(TakenValues, AWholeModelTakesWholeVectors) {
  EXPECT_THAT(texts(taken_values(index_, 0, nullptr, 0)),
              ElementsAre("params 0+40", "step 40+8", "buffers 48+12", "time 60+8"));
}

TEST_F(TakenValues, AStageTakesItsPart) {
  const StagePlan plan = two_stages();
  EXPECT_THAT(texts(taken_values(index_, 0, &plan, 0)),
              ElementsAre("params 0+24", "step 40+8", "buffers 48+4", "time 60+8"));
  EXPECT_THAT(texts(taken_values(index_, 0, &plan, 1)),
              ElementsAre("params 24+16", "step 40+8", "buffers 52+8", "time 68+8"));
}

TEST_F(TakenValues, AnotherWorkerTakesItsOwn) {
  const StagePlan plan = two_stages();
  EXPECT_THAT(
      texts(taken_values(index_, 1, &plan, 1)),
      ElementsAre("params 24+16", "step 40+8", "buffers 80+8", "time 88+8", "stages/odd 96+8"));
  EXPECT_TRUE(has_values_of(index_, 1));
  EXPECT_FALSE(has_values_of(index_, 2));
}

}  // namespace
}  // namespace lockstep
