// `lockstep train` with [overlap] and --timeline, and `lockstep timeline`, as a user meets them.
#include "tests/apps/training_runs.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class OverlappedTrain : public TrainingRuns {};

TEST_F(OverlappedTrain, IsTheSameRunOnEveryWorld) {
  ASSERT_EQ(train("plain").code, 0);
  for (const std::string& world : worlds()) {
    for (const std::string name : {"wfbp", "fusion", "mg-wfbp"}) {
      const Outcome outcome =
          train(world + name, "--world " + world + " --set overlap.name=" + name);
      ASSERT_EQ(outcome.code, 0) << outcome.text;
      EXPECT_TRUE(content(world + name + "/weights.npy") == content("plain/weights.npy"))
          << world << " " << name;
    }
  }
}

TEST_F(OverlappedTrain, TellsWhereTheTimeWent) {
  const Outcome outcome = train("a", "--set overlap.name=wfbp --timeline");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("overlap     4 layers in 4 buckets, the largest of 192K"));
  const auto trace = nlohmann::json::parse(content("a/timeline.json"));
  std::set<std::string> names;
  for (const auto& event : trace.at("traceEvents")) {
    names.insert(event.at("name").get<std::string>().substr(0, 6));
    EXPECT_GE(event.value("ts", 0.0), 0) << event << ": readers drop what was before the beginning";
  }
  for (const char* name : {"load", "forwar", "backwa", "wait 1", "update", "bucket"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  const Outcome told = lockstep("timeline " + run("a"));
  EXPECT_EQ(told.code, 0) << told.text;
  EXPECT_THAT(told.text, AllOf(HasSubstr("forward"), HasSubstr("backward"), HasSubstr("update"),
                               HasSubstr("longest"), HasSubstr("slowest")));
#ifdef LOCKSTEP_HAVE_SIM  // where times are always the same
  EXPECT_THAT(train("b", "--set overlap.name=wfbp --world sim").text, HasSubstr("hidden"));
  EXPECT_THAT(lockstep("timeline " + run("b")).text, HasSubstr("behind computing"));
#endif
  EXPECT_EQ(lockstep("timeline " + run("nothing")).code, 2);
}

TEST_F(OverlappedTrain, GoesOnWithItsBuckets) {
  const std::string more =
      "--set overlap.name=mg-wfbp --set compress.name=topk --set train.checkpoint_every=0.2 "
      "--set train.epochs=20 ";
  kill_after("train --out " + run("killed") + " " + kSmall + more + " --set train.log_every=1",
             run("killed") + "/metrics.jsonl", 12, SIGKILL);
  const Outcome resumed = lockstep("train --resume " + run("killed"));
  EXPECT_EQ(resumed.code, 0) << resumed.text;
}

}  // namespace
}  // namespace lockstep
