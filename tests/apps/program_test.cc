// The program as a user meets it: what it prints and the code it ends with.
#include "tests/apps/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Program, ListShowsEveryAlgorithmWithItsSentenceAndOptions) {
  const Outcome outcome = lockstep("list");
  EXPECT_EQ(outcome.code, 0);
  for (const char* name :
       {"all-to-all", "master-worker", "tree", "round-robin", "butterfly", "ring", "hierarchical",
        "torus", "hybrid", "native", "auto", "threads"}) {
    EXPECT_THAT(outcome.text, HasSubstr(std::string("  ") + name + " "));
  }
  EXPECT_THAT(outcome.text, HasSubstr("groups = 0"));
  EXPECT_THAT(lockstep("list world").text, Not(HasSubstr("butterfly")));
  std::istringstream lines(lockstep("list allreduce --json").text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(nlohmann::json::parse(line).at("kind"), "allreduce");
  }
  EXPECT_EQ(count, 11);
}

TEST(Program, ExplainGoesThroughTheWorkedCase) {
  const Outcome outcome = lockstep(
      "explain allreduce --algorithm ring --op max --input "
      "'17 11 1 9; 5 13 23 14; 3 6 10 8; 12 7 2 12'");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, HasSubstr("step 1 of 6: share-reduce 1/3\n"
                                      "  A → B  [0] 17   max with 5: 17\n"));
  // After share-reduce D holds 17, A 13, B 23 and C 14.
  EXPECT_THAT(outcome.text, HasSubstr("   A   17  13  10  12\n"
                                      "   B   17  13  23  14\n"
                                      "   C   17  13  10  14\n"
                                      "   D   17  13  10  12\n\nstep 4 of 6: share-only 1/3"));
  EXPECT_THAT(outcome.text,
              HasSubstr("6 steps, 24 messages, 96 bytes in all; every rank holds 17 13 23 14"));
  EXPECT_THAT(outcome.text, Not(HasSubstr("\x1b[")));  // no colours in a file
}

TEST(Program, ExplainShowsEveryAlgorithm) {
  for (const char* name : {"all-to-all", "master-worker", "tree", "round-robin", "butterfly",
                           "ring", "hierarchical", "torus", "hybrid", "native", "auto"}) {
    const Outcome outcome = lockstep(std::string("explain allreduce --algorithm ") + name);
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("every rank holds 17 13 23 14")) << name;
  }
}

TEST(Program, BenchWritesLinesOfJson) {
  const Outcome outcome = lockstep(
      "bench allreduce --ranks 1,3 --sizes 4K,64K --algorithm ring,native --repeats 3 --json",
      "2>/dev/null");
  EXPECT_EQ(outcome.code, 0);
  std::istringstream lines(outcome.text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json.at("world"), "threads");
    EXPECT_TRUE(json.at("algorithm") == "ring" || json.at("algorithm") == "native");
    EXPECT_TRUE(json.at("ranks") == 1 || json.at("ranks") == 3);
    EXPECT_TRUE(json.at("bytes") == 4096 || json.at("bytes") == 65536);
    EXPECT_LE(json.at("p10_us").get<double>(), json.at("median_us").get<double>());
    EXPECT_LE(json.at("median_us").get<double>(), json.at("p90_us").get<double>());
  }
  EXPECT_EQ(count, 8);
}

TEST(Program, BenchComparesAndSaysWhatEachRankMayUse) {
  const Outcome outcome = lockstep("bench allreduce --ranks 2 --sizes 4K --repeats 3");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("compute thread"), HasSubstr("2 ranks, median µs"),
                                  HasSubstr("GB/s"), HasSubstr("* the fastest")));
}

TEST(Program, ExplainsCompressors) {
  const Outcome outcome = lockstep("explain compress --with onebit --steps 1");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, testing::AllOf(testing::HasSubstr("8.8875   8.8875  -0.711"),
                                           testing::HasSubstr("72 bits instead of 192")));
  expect_refused("explain compress --with onebot", "\"onebot\"", "did you mean \"onebit\"");
  expect_refused("explain compress --input '1 x'", "\"x\"", "a number");
  expect_refused("explain compress --shape 2x2", "4 values", "6");
}

TEST(Program, MeasuresCompressors) {
  const Outcome outcome = lockstep("bench compress --sizes 64K --budget 0 --json", "2>/dev/null");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  for (const char* name : {"fp16", "onebit", "qsgd", "topk", "powersgd"}) {
    EXPECT_THAT(outcome.text, testing::HasSubstr(std::string("\"compressor\":\"") + name + "\""));
  }
  EXPECT_THAT(lockstep("bench compress --sizes 64K --budget 0 --with fp16").text,
              testing::AllOf(testing::HasSubstr("pays below"), testing::HasSubstr("Mbit/s")));
  expect_refused("bench compress --sizes 4Q", "4Q", "64K");
  expect_refused("bench compress --set rank=2", "--set is for one compressor", "--with");
}

TEST(Program, RefusesWhatMakesNoSense) {
  expect_refused("trian", "unknown command \"trian\"", "list");
  expect_refused("list allredcue", "unknown kind", "did you mean \"allreduce\"");
  expect_refused("explain allreduce --algorithm rign", "\"rign\"", "did you mean \"ring\"");
  expect_refused("explain allreduce --op avg", "\"avg\"", "sum, mean, max, min");
  expect_refused("explain allreduce --input '1 2; 3'", "row 2 has 1 number", "row 1 has 2");
  expect_refused("explain allreduce --input '1 x'", "\"x\"", "a number");
  expect_refused("explain allreduce --input ' '", "--input is empty", "one row");
  expect_refused("explain allreduce --set groups=2", "has no options", "groups");
  expect_refused("explain allreduce --algorithm hierarchical --set groups=9", "9 groups",
                 "only 4 ranks");
  expect_refused("explain allreduce --algorithm hierarchical --set groups=-1", "-1", "at least 0");
  expect_refused("explain allreduce --algorithm hierarchical --set group=1", "group",
                 "did you mean \"groups\"");
  expect_refused("explain allreduce --algorithm hybrid --set threshold", "threshold", "name=value");
  expect_refused("bench allreduce --ranks 0", "0", "1 to");
  expect_refused("bench allreduce --ranks -2", "-2", "1 to");
  expect_refused("bench allreduce --ranks two", "\"two\"", "a whole number");
  expect_refused("bench allreduce --ranks 5000 --sizes 4", "5000", "at most 4096");
  expect_refused("bench allreduce --ranks ' '", "--ranks is empty", "2,4");
  expect_refused("bench allreduce --sizes 99999999T", "99999999T", "out of range");
  expect_refused("bench allreduce --sizes 2", "less than one float", "4 bytes");
  expect_refused("bench allreduce --sizes 64Q", "64Q", "K, M or G");
  expect_refused("bench allreduce --sizes 900T", "need about", "of memory");
  expect_refused("bench allreduce --algorithm ring,nativ", "\"nativ\"", "native");
  expect_refused("bench allreduce --world moon", "unknown world \"moon\"", "threads");
  expect_refused("bench allreduce --cluster-file c.toml", "--cluster-file", "--world sim");
  expect_refused("bench allreduce --timeout 0", "timeout", "greater than 0");
  expect_refused("bench allreduce --timeout inf", "timeout", "at most");
  expect_refused("bench allreduce --algorithm ' '", "--algorithm is empty", "names");
  expect_refused("bench allreduce --repeats -1", "--repeats", "negative");
  expect_refused("bench allreduce --algorithm ring,tree --set groups=1", "--set", "--algorithm");
  expect_refused("bench", "which bench command", "Valid: allreduce");
  expect_refused("bench allredcue", "\"allredcue\"", "did you mean \"allreduce\"");
  expect_refused("", "which command", "list, explain, bench, data");
}

#ifdef LOCKSTEP_HAVE_MPI
TEST(Program, BenchStartsMpirunAndPutsTheLibraryBeside) {
  const Outcome outcome = lockstep(
      "bench allreduce --world mpi --ranks 2,3 --sizes 4K --algorithm native,ring --repeats 3 "
      "--json",
      "2>/dev/null");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  std::istringstream lines(outcome.text);
  std::vector<std::string> seen;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json.at("world"), "mpi");
    seen.push_back(json.at("algorithm").get<std::string>() + " " + json.at("ranks").dump());
  }
  EXPECT_THAT(seen, testing::ElementsAre("native 2", "ring 2", "MPI_Allreduce 2", "native 3",
                                         "ring 3", "MPI_Allreduce 3"));
  expect_refused("bench allreduce --world mpi --algorithm rnig", "rnig", "ring");
}
#endif

TEST(Program, HelpIsNotAnError) {
  for (const char* command : {"--help", "--version", "bench allreduce --help", "explain --help"}) {
    EXPECT_EQ(lockstep(command).code, 0) << command;
  }
}

#ifdef LOCKSTEP_HAVE_SIM
TEST(Program, SimulatedTimesComeFromTheClusterFile) {
  const auto path = std::filesystem::temp_directory_path() /
                    fmt::format("lockstep-program-test-{}.toml", getpid());
  std::ofstream(path)
      << "topology = \"star\"\nhosts = 4\nbandwidth = \"1MB/s\"\nlatency = \"0s\"\n";
  const Outcome outcome = lockstep(
      "bench allreduce --world sim --ranks 4 --sizes 4000 --algorithm ring --repeats 1 "
      "--json --cluster-file " +
          path.string(),
      "2>/dev/null");
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  // 6 steps of 1000 bytes at 1 MB/s.
  EXPECT_NEAR(nlohmann::json::parse(outcome.text).at("median_us").get<double>(), 6000, 1);
  std::ofstream(path) << "topology = \"star\"\nhosts = [";
  expect_refused("bench allreduce --world sim --cluster-file " + path.string(), path.string(),
                 ":2:10:");
  std::ofstream(path) << "hosts = 0\n";
  expect_refused("bench allreduce --world sim --cluster-file " + path.string(), "hosts",
                 "from 1 to 65536");
  std::filesystem::remove(path);
  expect_refused("bench allreduce --world sim --cluster-file " + path.string(), path.string(), "");
}
#endif

}  // namespace
}  // namespace lockstep
