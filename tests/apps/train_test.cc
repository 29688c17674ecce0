// `lockstep train` as a user meets it. The model is softmax regression or a small MLP on a few
// hundred shapes, so that a run takes a second.
#include "tests/apps/training_runs.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Train : public TrainingRuns {};

TEST_F(Train, LeavesEverythingARunIsMadeOf) {
  const Outcome outcome = train("a");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("Done after 18 steps"), HasSubstr("test")));
  for (const char* file : {"config.toml", "metrics.jsonl", "model.pt", "weights.npy",
                           "summary.json", "log.txt", "checkpoint"}) {
    EXPECT_TRUE(fs::exists(folder_ / "a" / file)) << file;
  }
  auto lines = metrics("a");
  std::erase_if(lines, [](const auto& line) { return !line.contains("loss"); });
  ASSERT_EQ(lines.size(), 2u);  // after step 10 and at the end
  for (const char* key :
       {"step", "epoch", "samples", "bytes", "seconds", "loss", "accuracy", "lr"}) {
    EXPECT_TRUE(lines.front().contains(key)) << key;
  }
  EXPECT_EQ(nlohmann::json::parse(content("a/summary.json")).at("steps"), 18);
}

TEST_F(Train, IsTheSameRunOnEveryWorld) {
  ASSERT_EQ(train("threads").code, 0);
#ifdef LOCKSTEP_HAVE_SIM
  ASSERT_EQ(train("sim", "--world sim").code, 0);
  EXPECT_TRUE(content("sim/weights.npy") == content("threads/weights.npy"));
#endif
#ifdef LOCKSTEP_HAVE_MPI
  ASSERT_EQ(train("mpi", "--world mpi").code, 0);
  EXPECT_TRUE(content("mpi/weights.npy") == content("threads/weights.npy"));
#endif
  ASSERT_EQ(train("again").code, 0);
  EXPECT_TRUE(content("again/weights.npy") == content("threads/weights.npy"));
  ASSERT_EQ(train("other", "--set train.seed=2").code, 0);
  EXPECT_FALSE(content("other/weights.npy") == content("threads/weights.npy"));
}

TEST_F(Train, IsTheSameOnEveryWorldWithBatchNormToo) {
  const auto resnet = [&](const std::string& world) {
    const Outcome outcome =
        lockstep("train --out " + run(world) + " --world " + world +
                 " --set data.samples=400 --set data.test=100 --set train.steps=3");
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    return content(world + "/weights.npy");
  };
  [[maybe_unused]] const std::string threads = resnet("threads");
#ifdef LOCKSTEP_HAVE_SIM
  EXPECT_TRUE(resnet("sim") == threads);
#endif
#ifdef LOCKSTEP_HAVE_MPI
  EXPECT_TRUE(resnet("mpi") == threads);
#endif
}

TEST_F(Train, ConfigurationOfARunRepeatsIt) {
  ASSERT_EQ(train("a", "--set optim.name=adam --set schedule.name=cosine").code, 0);
  const Outcome again = lockstep("train " + run("a/config.toml") + " --out " + run("b"));
  EXPECT_EQ(again.code, 0) << again.text;
  EXPECT_TRUE(content("a/weights.npy") == content("b/weights.npy"));
  EXPECT_EQ(content("a/config.toml"), content("b/config.toml"));
}

constexpr const char* kLong =
    "--set train.epochs=40 --set train.log_every=1 --set train.checkpoint_every=0.5 "
    "--set optim.momentum=0.9 --set schedule.name=cosine ";

TEST_F(Train, AKilledRunGoesOnAsIfNothingHadHappened) {
  ASSERT_EQ(train("whole", kLong).code, 0);
  for (const int lines : {1, 37, 101}) {
    const std::string name = "killed-" + std::to_string(lines);
    kill_after("train --out " + run(name) + " " + kSmall + kLong, run(name) + "/metrics.jsonl",
               lines, SIGKILL);
    const Outcome resumed = lockstep("train --resume " + run(name));
    EXPECT_EQ(resumed.code, 0) << resumed.text;
    EXPECT_TRUE(content(name + "/weights.npy") == content("whole/weights.npy")) << lines;
    const auto all = metrics("whole"), again = metrics(name);
    ASSERT_EQ(again.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(again[i].at("step"), all[i].at("step"));
      if (all[i].contains("loss")) {
        EXPECT_EQ(again[i].at("loss"), all[i].at("loss")) << i;
      }
    }
  }
}

// Killed between its last checkpoint and its summary, a run has nothing left to learn.
TEST_F(Train, ARunKilledAtItsVeryEndEndsAlike) {
  const std::string stopping =
      "--set train.patience=1 --set train.least_gain=1 --set train.validate_every=0.5 ";
  for (const std::string& more : {std::string(), stopping}) {
    const std::string name = more.empty() ? "to the end" : "stopped early";
    ASSERT_EQ(lockstep("train --out '" + run(name) + "' " + kSmall + more).code, 0);
    const auto lines = metrics(name);
    const auto summary = nlohmann::json::parse(content(name + "/summary.json"));
    EXPECT_EQ(summary.at("stopped_early"), !more.empty());
    const std::string weights = content(name + "/weights.npy");
    for (const char* file : {"summary.json", "weights.npy", "model.pt"}) {
      fs::remove(folder_ / name / file);
    }
    const Outcome resumed = lockstep("train --resume '" + run(name) + "'");
    ASSERT_EQ(resumed.code, 0) << resumed.text;
    EXPECT_TRUE(content(name + "/weights.npy") == weights) << name;
    const auto again = metrics(name);
    ASSERT_EQ(again.size(), lines.size()) << name;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(but_time(again[i]), but_time(lines[i])) << name;
    }
    EXPECT_EQ(but_time(nlohmann::json::parse(content(name + "/summary.json"))), but_time(summary));
  }
}

TEST_F(Train, CtrlCFinishesTheStepAndSaysHowToGoOn) {
  ASSERT_EQ(train("whole", kLong).code, 0);
  kill_after("train --out " + run("stopped") + " " + kSmall + kLong,
             run("stopped") + "/metrics.jsonl", 20, SIGINT);
  EXPECT_FALSE(fs::exists(folder_ / "stopped" / "model.pt"));
  const Outcome resumed = lockstep("train --resume " + run("stopped"));
  EXPECT_EQ(resumed.code, 0) << resumed.text;
  EXPECT_TRUE(content("stopped/weights.npy") == content("whole/weights.npy"));
}

TEST_F(Train, ADamagedCheckpointIsNamedAndTheOneBeforeUsed) {
  ASSERT_EQ(train("whole", kLong).code, 0);
  kill_after("train --out " + run("a") + " " + kSmall + kLong, run("a") + "/metrics.jsonl", 60,
             SIGINT);
  fs::path newest;
  for (const auto& entry : fs::directory_iterator(folder_ / "a" / "checkpoint")) {
    newest = std::max(newest, entry.path());
  }
  fs::resize_file(newest, fs::file_size(newest) / 2);
  const Outcome resumed = lockstep("train --resume " + run("a"));
  EXPECT_EQ(resumed.code, 0) << resumed.text;
  EXPECT_THAT(resumed.text, HasSubstr(newest.filename().string()));
  EXPECT_TRUE(content("a/weights.npy") == content("whole/weights.npy"));
}

TEST_F(Train, OtherWorkersMayGoOn) {
  kill_after("train --out " + run("a") + " " + kSmall + kLong, run("a") + "/metrics.jsonl", 20,
             SIGINT);
  const Outcome resumed = lockstep("train --resume " + run("a") + " --workers 4");
  EXPECT_EQ(resumed.code, 0) << resumed.text;
  EXPECT_THAT(resumed.text, AllOf(HasSubstr("2 workers"), HasSubstr("4")));
}

TEST_F(Train, ARefusedResumeLeavesTheRunAsItWas) {
  ASSERT_EQ(train("a", "--set sync.name=asynchronous --set aggregate.servers=1").code, 0);
  const std::string config = content("a/config.toml"), metrics = content("a/metrics.jsonl");
  const Outcome refused =
      lockstep("train --resume " + run("a") + " --set train.epochs=3 --set aggregate.servers=2");
  EXPECT_EQ(refused.code, 2) << refused.text;
  EXPECT_THAT(refused.text, HasSubstr("is of 3 ranks"));
  EXPECT_EQ(content("a/config.toml"), config);
  EXPECT_EQ(content("a/metrics.jsonl"), metrics);
  const Outcome resumed = lockstep("train --resume " + run("a") + " --set train.epochs=3");
  EXPECT_EQ(resumed.code, 0) << resumed.text;
}

TEST_F(Train, EvaluatesWhatARunHasLearnt) {
  ASSERT_EQ(train("a").code, 0);
  const Outcome outcome = lockstep("eval " + run("a") + " --json", "2>/dev/null");
  ASSERT_EQ(outcome.code, 0);
  const auto found = nlohmann::json::parse(outcome.text);
  const auto summary = nlohmann::json::parse(content("a/summary.json"));
  EXPECT_EQ(found.at("test").at("accuracy"), summary.at("test").at("accuracy"));
  EXPECT_EQ(found.at("validation"), summary.at("validation"));
}

TEST_F(Train, EvaluatesWhatEveryStrategyHasLeft) {
  for (const std::string name :
       {"local", "one-shot", "post-local", "warm-local", "adacomm", "households", "block-momentum",
        "elastic", "elastic --set sync.asynchronous=true", "model-averaging", "gossip",
        "neighbours", "codistillation", "asynchronous",
        "stale-synchronous --set aggregate.servers=1", "local --set aggregate.servers=1"}) {
    SCOPED_TRACE(name);
    fs::remove_all(folder_ / "a");
    const bool server = name.find("servers") != std::string::npos;
    const Outcome trained = train("a", "--workers 4 --set train.epochs=2 --set sync.name=" + name +
                                           (server ? " --set aggregate.via=server" : ""));
    ASSERT_EQ(trained.code, 0) << trained.text;
    const Outcome outcome = lockstep("eval " + run("a") + " --json", "2>/dev/null");
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    const auto found = nlohmann::json::parse(outcome.text).at("validation").at("accuracy");
    const auto summary = nlohmann::json::parse(content("a/summary.json"));
    EXPECT_EQ(found, summary.at("validation").at("accuracy"));
  }
}

// A checkpoint between two agreements counts as what the workers would agree on there.
TEST_F(Train, EvaluatesWorkersThatHaveNotAgreedYetByTheirAverage) {
  const std::string one_shot =
      "--set sync.name=one-shot --set train.checkpoint_every=1 "
      "--set schedule.name=constant --set schedule.warmup_epochs=0 ";
  ASSERT_EQ(train("whole", one_shot + "--set train.epochs=2").code, 0);
  ASSERT_EQ(train("half", one_shot + "--set train.epochs=1").code, 0);
  std::vector<fs::path> checkpoints;
  for (const auto& entry : fs::directory_iterator(folder_ / "whole" / "checkpoint")) {
    checkpoints.push_back(entry.path());
  }
  ASSERT_EQ(checkpoints.size(), 2u);
  fs::remove(*std::ranges::max_element(checkpoints));
  const Outcome outcome = lockstep("eval " + run("whole") + " --json", "2>/dev/null");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  const auto summary = nlohmann::json::parse(content("half/summary.json"));
  EXPECT_EQ(nlohmann::json::parse(outcome.text).at("validation"), summary.at("validation"));
}

TEST_F(Train, DryRunDoesNothingButTell) {
  const Outcome outcome = train("a", "--dry-run --set assign.name=full");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("[optim]\nname = \"sgd\""), HasSubstr("parameters"),
                                  HasSubstr("each sample on 2 workers"), HasSubstr("sent a step")));
  EXPECT_FALSE(fs::exists(folder_ / "a"));
}

TEST_F(Train, NeverOverwritesARun) {
  ASSERT_EQ(train("a").code, 0);
  const std::string weights = content("a/weights.npy");
  const Outcome outcome = train("a", "--set train.seed=2");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.text, HasSubstr("--resume"));
  EXPECT_EQ(content("a/weights.npy"), weights);
}

TEST_F(Train, ALossThatIsNoNumberEndsWithCode5) {
  const Outcome outcome = train("a", "--set optim.lr=1e30 --set train.epochs=9");
  EXPECT_EQ(outcome.code, 5) << outcome.text;
  EXPECT_THAT(content("a/log.txt"), HasSubstr("Ended by an error: the loss became"));
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("at step"), HasSubstr("on worker"),
                                  HasSubstr("learning rate"), Not(HasSubstr("terminate"))));
}

TEST_F(Train, RefusesWhatDoesNotFit) {
  const auto refused = [&](const std::string& more, const std::string& says) {
    const Outcome outcome = train("refused", more);
    EXPECT_EQ(outcome.code, 2) << more << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(says)) << more;
    EXPECT_FALSE(fs::exists(folder_ / "refused")) << more;
  };
  refused("--set train.local_batch=0 --set train.batch=41", "40");
  refused("--set train.batch=64", "give one of them");
  refused("--set train.local_batch=1000", "1000");
  refused("--workers 1000", "no samples");
  refused("--set cluster.merge=3", "does not divide");
  refused("--set optim.lrr=1", "did you mean \"lr\"");
  refused("--preset nothing", "default");
  refused("--set schedule.warmup_epochs=90", "90");
}

TEST_F(Train, ACompleteRunIsNotRunAgain) {
  ASSERT_EQ(train("a").code, 0);
  const std::string metrics_before = content("a/metrics.jsonl");
  const Outcome again = lockstep("train --resume " + run("a"));
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.text, HasSubstr("is complete"));
  EXPECT_TRUE(content("a/metrics.jsonl") == metrics_before);
}

// Its results are those of the shorter run until it has ended again.
TEST_F(Train, ARunThatGoesFurtherIsNotCompleteMeanwhile) {
  ASSERT_EQ(train("a", "--set train.log_every=1").code, 0);
  const auto lines = static_cast<int>(metrics("a").size());
  kill_after("train --resume " + run("a") + " --set train.epochs=400", run("a") + "/metrics.jsonl",
             lines + 1, SIGKILL);
  EXPECT_FALSE(fs::exists(folder_ / "a" / "summary.json"));
}

TEST_F(Train, FakeModelsRunToTheEnd) {
  const Outcome outcome = lockstep("train --out " + run("a") +
                                   " --set model.name=fake:alexnet --set train.steps=2 "
                                   "--set data.samples=400 --set data.test=100 --workers 2");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_FALSE(fs::exists(folder_ / "a" / "model.pt"));
}

TEST_F(Train, NamesAModelFileThatIsNotThere) {
  const Outcome outcome =
      lockstep("train --out " + run("a") + " --set model.name=torchscript:no-such.pt --workers 2");
  EXPECT_EQ(outcome.code, 3) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("no-such.pt"));
}

}  // namespace
}  // namespace lockstep
