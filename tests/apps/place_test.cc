// Models in parts as a user sees them: slot tables and placements.
#include <filesystem>
#include <fstream>

#include "lockstep/base/json_lines.h"
#include "tests/apps/program.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kGraphs = LOCKSTEP_EXAMPLES "/graphs/";

class Place : public FolderTest {
 protected:
  std::string example(const std::string& more = "") {
    return "place " + kGraphs + "lstm.toml --cluster " + kGraphs +
           "four_devices.toml --steps 500 " + more;
  }
};

TEST_F(Place, PrintsThePlacementItsBoundAndItsRivals) {
  const Outcome outcome = lockstep(example("--picture " + path("lstm.svg")));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("host 3"), HasSubstr("makespan"),
                                  HasSubstr("lower bound"), HasSubstr("in turns")));
  EXPECT_TRUE(std::filesystem::exists(path("lstm.svg")));
  const Json json = Json::parse(lockstep(example("--json"), "2>/dev/null").text);
  EXPECT_LE(json["makespan"], json["list_scheduling"]);
  EXPECT_GE(json["makespan"], json["lower_bound"]);
  EXPECT_EQ(json["device"].size(), 48u);
  EXPECT_EQ(json, Json::parse(lockstep(example("--json"), "2>/dev/null").text))
      << "the same seed finds the same";
}

TEST_F(Place, LongNamesDoNotFillTheTerminal) {
  std::ofstream graph(path("long.toml"));
  for (int i = 0; i < 50; ++i) {
    graph << "[[operator]]\nname = \"" << std::string(70, 'x') << i << "\"\nseconds = 1\n";
  }
  graph.close();
  const Outcome outcome =
      lockstep("place " + path("long.toml") + " --cluster " + kGraphs + "four_devices.toml");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_LT(outcome.text.size(), 2000u);
}

TEST_F(Place, WrongInputIsRefused) {
  expect_refused("place " + path("none.toml") + " --cluster " + kGraphs + "four_devices.toml",
                 "none.toml", "No such file", 3);
  expect_refused("place " + kGraphs + "lstm.toml --cluster /dev/zero", "/dev/zero", "path right");
  expect_refused(example("--picture " + path("nowhere/x.svg")), "nowhere", "no directory");
  std::ofstream(path("small.toml")) << "hosts = 2\nmemory = \"1M\"\n";
  expect_refused("place " + kGraphs + "lstm.toml --cluster " + path("small.toml"), "832M", "2M");
}

TEST(ExplainPipeline, ShowsSlotsIdleShareAndActivations) {
  const Outcome outcome =
      lockstep("explain pipeline --stages 4 --microbatches 8 --schedule gpipe --backward 2");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr(" stage 3  .. .. .. F0"), HasSubstr("27.3 % of all"),
                                  HasSubstr("8, 8, 8, 8 micro-batches")));
  EXPECT_THAT(
      lockstep("explain pipeline --stages 256 --microbatches 4096 --schedule sequential").text,
      HasSubstr("2097152 slots"));
  expect_refused("explain pipeline --schedule gpip", "gpip", "gpipe");
  expect_refused("explain pipeline --stages 0", "stages", "1");
}

}  // namespace
}  // namespace lockstep
