#include "lockstep/experiment/grid.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "lockstep/base/error.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const char* const kSweep = R"(
title = "Workers and shards"
seeds = [3, 5]
exclude = ["cluster.workers == 1 and shards == 'all'"]
baseline = ["1", "none"]
[base]
train.epochs = 2
effective = 64
[[axis]]
key = "cluster.workers"
values = [1, 2, 4]
[[axis]]
name = "shards"
points = [{label = "none", assign.name = "disjoint"}, {label = "all", assign.name = "full"}]
[derived]
train.local_batch = "effective / cluster.workers"
optim.lr = "0.1 * train.local_batch / 32"
[[published]]
at = ["2", "none"]
mean = 91.31
std = 0.22
[scale.small]
seeds = [1]
base.train.epochs = 0.5
[[scale.small.axis]]
key = "cluster.workers"
values = [1, 2]
)";

class Grid : public FolderTest {
 protected:
  SweepFile read(const std::string& text, const std::string& scale = "full") {
    const std::string file = path("grid.toml");
    std::ofstream(file) << "file = \"ground.toml\"\n" << text;
    std::ofstream(path("ground.toml")) << "[model]\nname = \"fake\"\n[data]\nname = \"shapes\"\n"
                                          "[optim]\nmomentum = 0.25\n";
    return read_sweep_file(file, scale);
  }
  std::string error_of(const std::string& text, const std::string& scale = "full") {
    try {
      cells_of(read(text, scale));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(Grid, BaselinesAndPublishedResultsAreOfSomeCell) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = kSweep;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(error_of(kSweep), "no error");
  EXPECT_THAT(error_of(changed("[\"1\", \"none\"]", "[\"1\", \"all\"]")),
              HasSubstr("no cell of the baseline [1, all]"));
  EXPECT_THAT(error_of(changed("[\"2\", \"none\"]", "[\"2\", \"nine\"]")),
              HasSubstr("did you mean \"none\"?"));
  // What is published of a point that a scale leaves out is only not shown.
  EXPECT_EQ(error_of(changed("[\"2\", \"none\"]", "[\"4\", \"none\"]"), "small"), "no error");
}

TEST_F(Grid, IsEveryCombinationThatIsNotExcluded) {
  const SweepFile sweep = read(kSweep);
  const auto cells = cells_of(sweep);
  ASSERT_THAT(cells, SizeIs(5));
  EXPECT_THAT(cells[0].labels, ElementsAre("1", "none"));
  EXPECT_THAT(cells[1].labels, ElementsAre("2", "none"));
  EXPECT_THAT(cells[4].labels, ElementsAre("4", "all"));
  EXPECT_EQ(describe(sweep, cells[4]), "cluster.workers=4, shards=all");
  std::set<std::string> folders;
  for (const Cell& cell : cells) folders.insert(cell.folder);
  EXPECT_THAT(folders, SizeIs(5));
  EXPECT_TRUE(folders.contains("workers-4_shards-all"));
}

TEST_F(Grid, FormulasMakeSettings) {
  const SweepFile sweep = read(kSweep);
  const auto cells = cells_of(sweep);
  const Config config = config_of(sweep, cells[4], 5);
  EXPECT_EQ(config.at("train").text_of("local_batch"), "16");
  EXPECT_EQ(config.at("optim").text_of("lr"), "0.05");
  EXPECT_EQ(config.at("assign").text_of("name"), "full");
  EXPECT_EQ(config.at("train").text_of("seed"), "5");
  EXPECT_EQ(config.at("train").text_of("epochs"), "2");
  EXPECT_EQ(config.at("optim").text_of("momentum"), "0.25");  // of the ground
}

TEST_F(Grid, AScaleReplacesWhatItNames) {
  const SweepFile sweep = read(kSweep, "small");
  EXPECT_THAT(sweep.seeds, ElementsAre(1));
  const auto cells = cells_of(sweep);
  EXPECT_THAT(cells, SizeIs(3));
  EXPECT_EQ(config_of(sweep, cells[0], 1).at("train").text_of("epochs"), "0.5");
  EXPECT_EQ(config_of(sweep, cells[0], 1).at("train").text_of("local_batch"), "64");
}

TEST_F(Grid, ASweepWithoutAxesIsOneCell) {
  const SweepFile sweep = read("seeds = [1, 2]\n");
  EXPECT_THAT(cells_of(sweep), SizeIs(1));
}

TEST_F(Grid, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(error_of("sedes = [1]\n"), HasSubstr("seeds"));
  EXPECT_THAT(error_of("\nseeds = []\n"), HasSubstr("grid.toml:3"));
  EXPECT_THAT(error_of("seeds = [1, 1]\n"), HasSubstr("twice"));
  EXPECT_THAT(error_of("seeds = [-1]\n"), HasSubstr("from 0"));
  EXPECT_THAT(error_of("base.trian.epochs = 2\n"), HasSubstr("train"));
  EXPECT_THAT(error_of("[[axis]]\nkey = \"train.epochs\"\n"), HasSubstr("values"));
  EXPECT_THAT(error_of("[[axis]]\nkey = \"train.epochs\"\nvalues = [1, 1]\n"), HasSubstr("twice"));
  EXPECT_THAT(error_of("[[axis]]\nkey = \"train.epochs\"\nvalues = [-1]\n"),
              HasSubstr("epochs=-1"));
  EXPECT_THAT(error_of("[derived]\ntrain.epochs = \"what + 1\"\n"), HasSubstr("what"));
  EXPECT_THAT(error_of("[derived]\na = \"b\"\nb = \"a + 1\"\n"), HasSubstr("itself"));
  EXPECT_THAT(error_of("exclude = [\"1\"]\n"), HasSubstr("excluded"));
  EXPECT_THAT(error_of("baseline = [\"1\"]\n"), HasSubstr("0 axes"));
  EXPECT_THAT(error_of(kSweep, "tiny"), HasSubstr("small"));
  EXPECT_THAT(error_of("metric = \"mood\"\n"), HasSubstr("validation"));
  EXPECT_THAT(error_of("title = \n"), HasSubstr("grid.toml:2"));
}

}  // namespace
}  // namespace lockstep
