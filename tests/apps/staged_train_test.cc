// `lockstep train` with [parallel] stages, as a user meets it.
#include "tests/apps/training_runs.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Two stages of an MLP; without batch norm stages are the whole model to rounding.
class StagedTrain : public TrainingRuns {
 protected:
  static inline const std::string kStages =
      "--set model.widths=16,12 --set train.epochs=3 --set parallel.stages=2 "
      "--set parallel.microbatches=4 ";
  static inline const std::string kByHand = kStages + "--set parallel.cuts=hidden2 ";
};

TEST_F(StagedTrain, IsTheSameRunOnEveryWorldAndWhereverItIsCut) {
  ASSERT_EQ(train("first", kByHand).code, 0);
  for (const std::string& world : worlds()) {
    for (const std::string cut : {"hidden2", "classifier"}) {
      const Outcome outcome =
          train(world + cut, kStages + "--world " + world + " --set parallel.cuts=" + cut);
      ASSERT_EQ(outcome.code, 0) << outcome.text;
      EXPECT_THAT(outcome.text, HasSubstr("pipeline    1f1b, 2 stages, 4 micro-batches: idle"));
      EXPECT_TRUE(content(world + cut + "/weights.npy") == content("first/weights.npy"))
          << world << " " << cut;
    }
  }
}

TEST_F(StagedTrain, LearnsWhatTheWholeModelLearns) {
  const Outcome whole = train("whole", "--set model.widths=16,12 --set train.epochs=3 --workers 1");
  const Outcome cut = train("cut", kStages);
  ASSERT_EQ(cut.code, 0) << cut.text;
  EXPECT_THAT(cut.text, AllOf(HasSubstr("1 worker of 2 stages"), HasSubstr("stage 0"),
                              HasSubstr("0, stage 1")));
  const auto test = [&](const std::string& name, const char* what) {
    return nlohmann::json::parse(content(name + "/summary.json")).at("test").at(what).get<double>();
  };
  EXPECT_NEAR(test("cut", "loss"), test("whole", "loss"), 1e-3);
  // What leaves is one model, and what a checkpoint holds can be opened as one.
  EXPECT_EQ(content("cut/weights.npy").size(), content("whole/weights.npy").size());
  EXPECT_FALSE(content("cut/model.pt").empty());
  for (const std::string more :
       {"", " --set cluster.workers=1 --set parallel.stages=1 --set parallel.cuts="}) {
    const Outcome evaluated = lockstep("eval " + run("cut") + more);
    EXPECT_EQ(evaluated.code, 0) << evaluated.text;
    EXPECT_THAT(evaluated.text, HasSubstr(fmt::format("loss {:.4f}", test("cut", "loss"))));
  }
}

TEST_F(StagedTrain, GoesOnAfterAKillWithOtherCuts) {
  const std::string more = kByHand + "--set train.checkpoint_every=0.2 --set train.epochs=12 ";
  ASSERT_EQ(train("straight", more).code, 0);
  kill_after("train --out " + run("killed") + " " + kSmall + more + "--set train.log_every=1",
             run("killed") + "/metrics.jsonl", 12, SIGKILL);
  const Outcome resumed =
      lockstep("train --resume " + run("killed") + " --set parallel.cuts=classifier");
  ASSERT_EQ(resumed.code, 0) << resumed.text;
  EXPECT_TRUE(content("killed/weights.npy") == content("straight/weights.npy"));
}

// The global batch stays what it was, whoever has which part of it.
TEST_F(StagedTrain, GoesOnWithOtherStagesOrNone) {
  const std::string longer = "train --set train.epochs=4 --resume " + run("a");
  for (const std::string more :
       {"--workers 1 --set parallel.stages=1", "--workers 3 --set parallel.stages=3",
        "--workers 4 --set parallel.stages=2", "--workers 2 --set parallel.stages=1"}) {
    ASSERT_EQ(train("a", kByHand + "--set overlap.name=mg-wfbp").code, 0);
    const Outcome resumed = lockstep(longer + " --set parallel.cuts= " + more);
    EXPECT_EQ(resumed.code, 0) << more << ": " << resumed.text;
    fs::remove_all(run("a"));
  }
}

TEST_F(StagedTrain, WrongSettingsAreOneSentence) {
  const Outcome cuts = train("a", kStages + "--set parallel.cuts=hiden2");
  EXPECT_EQ(cuts.code, 2);
  EXPECT_THAT(cuts.text, HasSubstr("did you mean \"hidden2\"?"));
  const Outcome memory = train("b", kStages + "--set parallel.memory=10K");
  EXPECT_EQ(memory.code, 2);
  EXPECT_THAT(memory.text, HasSubstr("however it is cut"));
}

}  // namespace
}  // namespace lockstep
