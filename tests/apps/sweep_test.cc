// Sweeps as a user runs them: to their end, killed at any moment, with cells that fail.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "lockstep/base/json_lines.h"
#include "tests/apps/training_runs.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

class Sweep : public FolderTest {
 protected:
  std::string write_sweep(const std::string& values = "[1, 2]") {
    const std::string file = path("small.toml");
    std::ofstream(file) << "title = \"Small\"\nseeds = [1, 2]\n[base]\nmodel.name = \"logistic\"\n"
                           "train.epochs = 1\ntrain.steps = 60\ntrain.log_every = 5\n"
                           "train.checkpoint_every = 0.1\ntrain.local_batch = 8\n"
                           "[[axis]]\nname = \"workers\"\nkey = \"cluster.workers\"\nvalues = "
                        << values << "\n";
    return file;
  }

  // What was learned, of all runs in order; without the seconds that it took.
  std::string results(const std::string& root) {
    std::string text;
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root + "/cells")) {
      if (entry.path().filename() == "metrics.jsonl") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      text += std::filesystem::relative(file, root).string() + "\n";
      for (Json line : read_json_lines(file)) {
        line.erase("seconds");
        text += line.dump() + "\n";
      }
    }
    return text;
  }
};

TEST_F(Sweep, RunsTheGridAndReports) {
  const std::string file = write_sweep(), out = path("out");
  const Outcome listed = lockstep("sweep " + file + " --dry-run --out " + out);
  EXPECT_EQ(listed.code, 0) << listed.text;
  EXPECT_THAT(listed.text, HasSubstr("2 cells of 2 seeds: 4 runs, 0 done"));
  const Outcome swept = lockstep("sweep " + file + " --out " + out);
  EXPECT_EQ(swept.code, 0) << swept.text;
  EXPECT_THAT(swept.text, HasSubstr("workers=2, seed 2"));
  const Outcome again = lockstep("sweep " + file + " --out " + out);
  EXPECT_EQ(again.code, 0) << again.text;
  EXPECT_THAT(again.text, Not(HasSubstr("seed 2"))) << "nothing is done twice";
  const Outcome compared = lockstep("compare " + out);
  EXPECT_EQ(compared.code, 0) << compared.text;
  EXPECT_THAT(compared.text, HasSubstr("workers=1"));
  EXPECT_THAT(lockstep("report --format markdown " + out).text, HasSubstr("| workers=2 | 2 |"));
}

TEST_F(Sweep, KilledAtAnyMomentItEndsWithTheSameResults) {
  const std::string file = write_sweep();
  ASSERT_EQ(lockstep("sweep " + file + " --out " + path("whole")).code, 0);
  const std::string torn = path("torn");
  int kills = 0;
  for (double moment = 0.15;; moment = 1.3 * moment + 0.05) {
    const Outcome outcome =
        lockstep("sweep " + file + " --out " + torn,
                 fmt::format("2>&1 & sweep=$!; (sleep {}; kill -9 $sweep) >/dev/null 2>&1 & "
                             "killer=$!; wait $sweep; kill $killer",
                             moment));
    if (outcome.text.find("Done.") != std::string::npos) break;
    ASSERT_LT(++kills, 40);
  }
  EXPECT_GE(kills, 1);
  EXPECT_EQ(results(torn), results(path("whole")));
}

#ifdef LOCKSTEP_HAVE_MPI
// mpirun and its ranks end with the sweep that started them, so that the next one can go on.
TEST_F(Sweep, KilledWithRunsOnMpiItGoesOn) {
  const std::string file = path("mpi.toml"), out = path("out");
  std::ofstream(file) << "seeds = [1]\n[base]\nmodel.name = \"logistic\"\ncluster.world = \"mpi\"\n"
                         "cluster.workers = 2\ntrain.steps = 400\ntrain.log_every = 1\n"
                         "train.checkpoint_every = 0.1\ntrain.local_batch = 8\n"
                         "[[axis]]\nname = \"rate\"\nkey = \"optim.lr\"\nvalues = [0.1]\n";
  kill_after("sweep " + file + " --out " + out, out + "/cells/rate-0.1/seed-1/metrics.jsonl", 20,
             SIGKILL);
  const Outcome outcome = lockstep("sweep " + file + " --out " + out);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
}
#endif

TEST_F(Sweep, ACellThatFailsDoesNotStopTheRest) {
  const std::string out = path("out");
  // Nine workers of logistic regression fit; a batch for more workers than samples does not.
  const Outcome outcome = lockstep("sweep " + write_sweep("[1, 20000]") + " --out " + out);
  EXPECT_EQ(outcome.code, 1) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("2 of 4 runs failed"));
  EXPECT_TRUE(std::filesystem::exists(out + "/cells/workers-1/seed-2/summary.json"));
}

// Every cell of every scale has a configuration that makes sense.
TEST_F(Sweep, TheFilesThatComeAlongAreRight) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LOCKSTEP_EXPERIMENTS)) {
    const std::string file = entry.path();
    if (entry.path().extension() != ".toml" || entry.path().filename() == "small.toml") continue;
    ++files;
    for (const char* scale : {"full", "small"}) {
      const Outcome outcome = lockstep("sweep " + file + " --dry-run --scale " + scale);
      EXPECT_EQ(outcome.code, 0) << file << ", " << scale << ": " << outcome.text;
    }
  }
  EXPECT_EQ(files, 14);
}

TEST_F(Sweep, WrongFilesAreRefused) {
  expect_refused("sweep " + path("none.toml"), "none.toml", "", 3);
  std::ofstream(path("bad.toml")) << "sedes = [1]\n";
  expect_refused("sweep " + path("bad.toml"), "sedes", "seeds");
  expect_refused("sweep " + write_sweep() + " --scale tiny", "tiny", "full");
  expect_refused("report " + path("nothing"), "nothing", "run");
}

}  // namespace
}  // namespace lockstep
