// `lockstep train` with [compress], as a user meets it.
#include "tests/apps/training_runs.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CompressedTrain : public TrainingRuns {};

TEST_F(CompressedTrain, SaysHowMessagesAreCombinedAndWhetherItHelped) {
  const Outcome outcome = train("a", "--set compress.name=topk");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("topk gathered by everybody"), HasSubstr("encoding"),
                                  HasSubstr("topk sent "), HasSubstr("by the measured link")));
  const auto summary = nlohmann::json::parse(content("a/summary.json"));
  EXPECT_THAT(summary.at("compression").get<std::string>(), HasSubstr("times less"));
  const auto& worker = summary.at("by_worker").at(0);
  EXPECT_GT(worker.at("bytes_uncompressed").get<double>(),
            5 * worker.at("bytes_sent").get<double>());
}

TEST_F(CompressedTrain, IsTheSameRunOnEveryWorld) {
  for (const std::string name : {"qsgd", "powersgd", "fp16"}) {
    const std::string more = "--set compress.name=" + name;
    ASSERT_EQ(train(name, more).code, 0);
#ifdef LOCKSTEP_HAVE_SIM
    ASSERT_EQ(train(name + "-sim", more + " --world sim").code, 0);
    EXPECT_TRUE(content(name + "-sim/weights.npy") == content(name + "/weights.npy"));
#endif
#ifdef LOCKSTEP_HAVE_MPI
    ASSERT_EQ(train(name + "-mpi", more + " --world mpi").code, 0);
    EXPECT_TRUE(content(name + "-mpi/weights.npy") == content(name + "/weights.npy"));
#endif
  }
}

TEST_F(CompressedTrain, GoesOnWithWhatWasHeldBack) {
  const std::string more =
      "--set compress.name=topk --set compress.from_epoch=0.5 --set train.checkpoint_every=0.2 "
      "--set train.epochs=20 ";
  ASSERT_EQ(train("whole", more).code, 0);
  kill_after("train --out " + run("killed") + " " + kSmall + more + " --set train.log_every=1",
             run("killed") + "/metrics.jsonl", 12, SIGKILL);
  const Outcome resumed = lockstep("train --resume " + run("killed"));
  ASSERT_EQ(resumed.code, 0) << resumed.text;
  EXPECT_TRUE(content("killed/weights.npy") == content("whole/weights.npy"));
}

TEST_F(CompressedTrain, TakesRulesFromAFile) {
  std::ofstream(folder_ / "run.toml")
      << "[compress]\nname = \"powersgd\"\n[compress.rules]\n"
         "bias = \"none\"\n\"0*\" = \"topk(ratio=0.1, scope=layer)\"\n"
         "[compress.schedule]\n1 = \"fp16\"\n";
  const Outcome dry = lockstep("train " + run("run.toml") + " --dry-run " + kSmall);
  EXPECT_EQ(dry.code, 0) << dry.text;
  EXPECT_THAT(dry.text, AllOf(HasSubstr("powersgd"), HasSubstr("bias = none")));
}

TEST_F(CompressedTrain, RefusesInWords) {
  const std::string small = std::string("train --out ") + run("x") + " " + kSmall;
  expect_refused(small + "--set compress.name=top", "\"top\"", "topk");
  expect_refused(small + "--set compress.name=topk --set compress.ratio=0", "ratio",
                 "greater than 0");
  expect_refused(small + "--set compress.name=topk --set compress.momentum=0.9", "momentum",
                 "[optim] momentum = 0");
  expect_refused(small + "--set compress.name=qsgd --set compress.bucket=9", "9", "multiple of 8");
  // Names of layers are known once there is a model.
  expect_refused(small + "--set compress.name=topk --set compress.rules=nosuch*=none", "nosuch*",
                 "weight, bias, norm");
}

}  // namespace
}  // namespace lockstep
