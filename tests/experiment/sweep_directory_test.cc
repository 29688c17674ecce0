#include "lockstep/experiment/sweep_directory.h"

#include <gmock/gmock.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/experiment/comparison.h"
#include "tests/experiment/runs_on_disk.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SweepDirectoryTest : public FolderTest {
 protected:
  SweepDirectory open(const SweepFile& file, bool again = false) {
    return SweepDirectory(path("out"), file, cells_of(file), "full", again);
  }
  SweepFile sweep(const std::string& epochs = "2") {
    const std::string file = path("sweep.toml");
    std::ofstream(path("ground.toml")) << "[model]\nname = \"fake\"\n[data]\nname = \"shapes\"\n";
    std::ofstream(file) << "file = \"ground.toml\"\ntitle = \"T\"\nseeds = [1, 2]\nbaseline = "
                           "[\"2\"]\ntarget = 80\n"
                           "[base]\ntrain.epochs = "
                        << epochs
                        << "\n[[axis]]\nkey = \"cluster.workers\"\nvalues = [1, 2]\n"
                           "[[published]]\nat = [\"2\"]\nmean = 70\nstd = 1\n";
    return read_sweep_file(file, "full");
  }
};

TEST_F(SweepDirectoryTest, HasAConfigurationForEveryRun) {
  SweepDirectory directory = open(sweep());
  ASSERT_THAT(directory.runs(), SizeIs(4));
  EXPECT_THAT(directory.runs(), Each(Field(&SweptRun::state, RunState::kMissing)));
  Config config;
  config.read_file(directory.runs()[3].config);
  EXPECT_EQ(config.at("cluster").text_of("workers"), "2");
  EXPECT_EQ(config.at("train").text_of("seed"), "2");
}

TEST_F(SweepDirectoryTest, GoesOnWhereItWas) {
  std::string done, begun, torn;
  {
    SweepDirectory directory = open(sweep());
    done = directory.runs()[0].paths.root;
    begun = directory.runs()[1].paths.root;
    torn = directory.runs()[2].paths.root;
  }
  write_run(done, {}, {0.5});
  write_run(begun, {}, {0.5}, false);
  std::filesystem::create_directories(RunPaths{begun}.checkpoints());
  std::ofstream(RunPaths{begun}.checkpoints() + "/step-00000001.ckpt") << "x";
  write_run(torn, {}, {0.5}, false);
  SweepDirectory directory = open(sweep());
  EXPECT_EQ(directory.runs()[0].state, RunState::kDone);
  EXPECT_EQ(directory.runs()[1].state, RunState::kPartial);
  EXPECT_EQ(directory.runs()[2].state, RunState::kMissing);
  EXPECT_FALSE(std::filesystem::exists(torn)) << "it begins anew";
}

TEST_F(SweepDirectoryTest, RunsOfOtherSettingsAreNotTakenForTheSame) {
  std::string root;
  {
    SweepDirectory directory = open(sweep());
    root = directory.runs()[0].paths.root;
  }
  write_run(root, {}, {0.5});
  EXPECT_THROW(open(sweep("3")), ConfigError);
  EXPECT_TRUE(std::filesystem::exists(root)) << "nothing was touched";
  SweepDirectory again = open(sweep("3"), true);
  EXPECT_EQ(again.runs()[0].state, RunState::kMissing);
  EXPECT_FALSE(std::filesystem::exists(root));
}

TEST_F(SweepDirectoryTest, OneAtATime) {
  SweepDirectory first = open(sweep());
  EXPECT_THROW(open(sweep()), ConfigError);
}

TEST_F(SweepDirectoryTest, DoesNotTouchADirectoryThatIsNone) {
  std::filesystem::create_directories(path("out"));
  std::ofstream(path("out/thesis.txt")) << "x";
  EXPECT_THROW(open(sweep()), ConfigError);
}

TEST_F(SweepDirectoryTest, IsComparedByItsCells) {
  {
    SweepDirectory directory = open(sweep());
    double accuracy = 0.70;
    for (const SweptRun& run : directory.runs()) {
      write_run(run.paths.root, {fmt::format("train.seed={}", run.seed)}, {accuracy});
      accuracy += 0.05;
    }
  }
  const Comparison comparison = compare({path("out")}, {});
  EXPECT_EQ(comparison.title, "T");
  EXPECT_EQ(comparison.target, 80);
  ASSERT_THAT(comparison.lines, SizeIs(2));
  EXPECT_EQ(comparison.lines[1].label, "workers=2");
  EXPECT_EQ(comparison.baseline, 1u);
  ASSERT_TRUE(comparison.lines[1].published);
  EXPECT_EQ(comparison.lines[1].published->mean, 70);
  EXPECT_TRUE(comparison.lines[1].against_published);
  EXPECT_FALSE(comparison.lines[0].published);
}

TEST_F(SweepDirectoryTest, ADamagedListOfCellsIsRefused) {
  std::filesystem::create_directories(path("out"));
  for (const std::string text :
       {"{}", "[]", "{", R"({"title":"","name":"","text":"","metric":"best","target":0,
        "baseline":[],"axes":[],"published":[],"seeds":[1],
        "cells":[{"labels":[],"folder":"../../etc"}]})"}) {
    std::ofstream(path("out/sweep.json")) << text;
    EXPECT_THROW(compare({path("out")}, {}), Error) << text;
  }
}

}  // namespace
}  // namespace lockstep
