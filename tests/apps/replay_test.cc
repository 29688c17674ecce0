// Asynchronous runs as a user meets them: their record, its replay, and what is reported of them.
#include <algorithm>

#include "tests/apps/training_runs.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kAsynchronous = "--set sync.name=asynchronous ";

class Replay : public TrainingRuns {
 protected:
  // Replays `name` into <name>-again.
  Outcome replay(const std::string& name, const std::string& more = "") const {
    return lockstep("train --replay " + run(name) + " --out " + run(name + "-again") + " " + more);
  }
  void expect_repeats(const std::string& name) const {
    const Outcome again = replay(name);
    EXPECT_EQ(again.code, 0) << again.text;
    EXPECT_FALSE(content(name + "/weights.npy").empty());
    EXPECT_TRUE(content(name + "-again/weights.npy") == content(name + "/weights.npy"));
    EXPECT_EQ(content(name + "-again/arrivals.jsonl"), content(name + "/arrivals.jsonl"));
  }
  void expect_refused_replay(const std::string& name, const std::string& says) const {
    const Outcome outcome = replay(name);
    EXPECT_THAT(outcome.code, AnyOf(2, 3)) << outcome.text;
    EXPECT_THAT(outcome.text, AllOf(HasSubstr(says), Not(HasSubstr("terminate")),
                                    Not(HasSubstr("internal error"))));
    EXPECT_FALSE(fs::exists(folder_ / (name + "-again")));
  }
};

TEST_F(Replay, RepeatsARunByteForByte) {
  ASSERT_EQ(train("a", std::string(kAsynchronous) + "--workers 3 --set cluster.jitter=0.5").code,
            0);
  expect_repeats("a");
  ASSERT_EQ(train("b", "--set sync.name=stale-synchronous --set cluster.slow=0=2").code, 0);
  expect_repeats("b");
}

#ifdef LOCKSTEP_HAVE_MPI
TEST_F(Replay, RepeatsARunOfManyProcessesInOne) {
  const Outcome first = train("a", std::string(kAsynchronous) + "--world mpi");
  ASSERT_EQ(first.code, 0) << first.text;
  expect_repeats("a");
}

TEST_F(Replay, ServersOnMpiAreProcessesOfTheirOwn) {
  const Outcome apart =
      train("a", std::string(kAsynchronous) + "--world mpi --set aggregate.servers=1");
  ASSERT_EQ(apart.code, 0) << apart.text;
  EXPECT_THAT(apart.text, HasSubstr("3 MPI processes"));
  expect_repeats("a");
  ASSERT_EQ(train("b", "--world mpi --set aggregate.via=server --set aggregate.servers=1").code, 0);
  ASSERT_EQ(train("c").code, 0);
  EXPECT_TRUE(content("b/weights.npy") == content("c/weights.npy"));
}
#endif

TEST_F(Replay, RefusesWhatHasNoRecord) {
  ASSERT_EQ(train("a").code, 0);
  expect_refused_replay("a", "only runs whose workers do not wait");
  expect_refused_replay("nothing", "there is no run");
}

TEST_F(Replay, RefusesWhatMakesNoSense) {
  ASSERT_EQ(train("a", kAsynchronous).code, 0);
  const auto refused = [&](const std::string& arguments, const std::string& says) {
    const Outcome outcome = lockstep("train " + arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(says));
  };
  refused("--replay " + run("a") + " --resume " + run("a"), "--resume");
  refused("--replay " + run("a") + " --preset default", "leave file and preset out");
  refused("--replay " + run("a") + " --out " + run("a"), "holds a run already");
  const Outcome outcome = train("b", std::string(kAsynchronous) + "--set aggregate.via=allreduce");
  EXPECT_EQ(outcome.code, 2) << outcome.text;
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("asynchronous"), HasSubstr("use via = \"server\"")));
  EXPECT_FALSE(fs::exists(folder_ / "b"));
}

TEST_F(Replay, RefusesADamagedRecord) {
  ASSERT_EQ(train("a", kAsynchronous).code, 0);
  const std::string whole = content("a/arrivals.jsonl");
  const auto damaged = [&](const std::string& text, const std::string& says) {
    std::ofstream(folder_ / "a/arrivals.jsonl", std::ios::binary) << text;
    expect_refused_replay("a", says);
  };
  damaged("", "has not come to its end");
  damaged(whole.substr(0, whole.size() / 2), "arrivals.jsonl");
  damaged("rubbish\n" + whole, "arrivals.jsonl:1");
  std::string swapped = whole;
  std::swap(swapped[whole.find('0', whole.find("places"))],
            swapped[whole.find('1', whole.find("places"))]);
  damaged(swapped, "another checksum");
}

constexpr const char* kLong =
    "--set train.epochs=40 --set train.log_every=1 --set train.checkpoint_every=0.5 ";

TEST_F(Replay, CtrlCLeavesACheckpointAndTheRunGoesOnButIsNotReplayed) {
  const std::string settings = std::string(kSmall) + kAsynchronous + kLong;
  kill_after("train --out " + run("a") + " " + settings, run("a") + "/metrics.jsonl", 3, SIGINT);
  EXPECT_FALSE(fs::exists(folder_ / "a/summary.json"));
  EXPECT_FALSE(fs::is_empty(folder_ / "a/checkpoint"));
  expect_refused_replay("a", "has not come to its end");
  const Outcome resumed = lockstep("train --resume " + run("a"));
  EXPECT_EQ(resumed.code, 0) << resumed.text;
  EXPECT_THAT(resumed.text, HasSubstr("Going on after step"));
  const auto summary = nlohmann::json::parse(content("a/summary.json"));
  EXPECT_EQ(summary.at("steps"), 360);
  std::int64_t steps = 0, pushes = 0;
  for (const auto& worker : summary.at("by_worker"))
    steps += worker.at("steps").get<std::int64_t>();
  for (const auto& count : summary.at("staleness")) pushes += count.get<std::int64_t>();
  EXPECT_EQ(steps, 2 * 360);  // of both sittings
  EXPECT_EQ(pushes, 2 * 360);
  expect_refused_replay("a", "resumed after step");
}

TEST_F(Replay, EveryRunReportsByWorker) {
  for (const char* sync : {"synchronous", "asynchronous", "stale-synchronous"}) {
    const Outcome outcome = train(sync, std::string("--set sync.name=") + sync);
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    for (const std::string& text : {outcome.text, content(std::string(sync) + "/log.txt")}) {
      EXPECT_THAT(text, AllOf(HasSubstr("worker  steps  computing"), HasSubstr("rounds")));
    }
    const auto workers =
        nlohmann::json::parse(content(std::string(sync) + "/summary.json")).at("by_worker");
    ASSERT_EQ(workers.size(), 2u);
    for (const auto& worker : workers) {
      for (const char* key : {"steps", "computing", "waiting", "communicating", "bytes_sent",
                              "bytes_received", "rounds"}) {
        EXPECT_TRUE(worker.contains(key)) << key;
      }
      EXPECT_GT(worker.at("computing").get<double>(), 0);
      EXPECT_GT(worker.at("bytes_sent").get<double>(), 0);
    }
    const bool stale = sync != std::string("synchronous");
    EXPECT_EQ(outcome.text.find("staleness   mean") != std::string::npos, stale);
    for (const auto& line : metrics(sync)) {
      if (!line.contains("loss")) continue;
      EXPECT_EQ(line.contains("staleness"), stale);
      EXPECT_EQ(line.contains("rejected"), stale);
    }
  }
}

#ifdef LOCKSTEP_HAVE_SIM
// Taken up from the checkpoint in the middle, as after a crash that lost everything since.
TEST_F(Replay, ResumingOnSimIsNeverHavingStopped) {
  for (const std::string strategy :
       {"synchronous", "local", "asynchronous", "stale-synchronous", "gossip", "elastic"}) {
    const std::string more =
        " --world sim --workers 4 --set cluster.slow=1=1.7 --set "
        "cluster.jitter=0.3 --set train.keep=3 --set train.log_every=3 --set sync.name=" +
        strategy + (strategy == "elastic" ? " --set sync.asynchronous=true" : "");
    ASSERT_EQ(train(strategy, more).code, 0);
    const std::string whole = content(strategy + "/weights.npy");
    const auto lines = metrics(strategy);
    std::vector<fs::path> saved;
    for (const auto& entry : fs::directory_iterator(folder_ / strategy / "checkpoint")) {
      saved.push_back(entry.path());
    }
    ASSERT_GE(saved.size(), 2u);
    fs::remove(*std::ranges::max_element(saved));
    fs::remove(folder_ / strategy / "summary.json");
    const Outcome resumed = lockstep("train --resume " + run(strategy));
    ASSERT_EQ(resumed.code, 0) << resumed.text;
    EXPECT_TRUE(content(strategy + "/weights.npy") == whole) << strategy;
    const auto again = metrics(strategy);
    ASSERT_EQ(again.size(), lines.size()) << strategy;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(but_time(again[i]), but_time(lines[i])) << strategy;
      // The clock begins anew: it rounds otherwise.
      EXPECT_NEAR(again[i].at("seconds"), lines[i].at("seconds"), 1e-12) << strategy;
    }
  }
}
#endif

}  // namespace
}  // namespace lockstep
