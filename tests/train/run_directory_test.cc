#include "lockstep/train/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using RunDirectoryTest = FolderTest;

TEST_F(RunDirectoryTest, ANewRunHasItsConfiguration) {
  for (const std::string name : {"runs/deep/a", "b/"}) {
    const RunDirectory run = RunDirectory::create(path(name), "[train]\n");
    EXPECT_EQ(read_text_file(run.paths().config(), 100), "[train]\n");
    EXPECT_TRUE(std::filesystem::is_directory(run.paths().checkpoints()));
    EXPECT_EQ(find_run(path(name)).root, run.paths().root);
    EXPECT_FALSE(run.paths().root.ends_with('/'));
  }
  std::filesystem::create_directory(path("empty"));
  EXPECT_NO_THROW(RunDirectory::create(path("empty"), ""));
}

TEST_F(RunDirectoryTest, AnExistingRunIsNeverOverwritten) {
  RunDirectory::create(path("a"), "old");
  EXPECT_THAT(
      [&] { RunDirectory::create(path("a"), "new"); },
      ThrowsMessage<ConfigError>(AllOf(HasSubstr("--resume " + path("a")), HasSubstr("--out"))));
  EXPECT_EQ(read_text_file(path("a/config.toml"), 100), "old");
}

TEST_F(RunDirectoryTest, ADirectoryThatIsNoRunIsLeftAlone) {
  std::filesystem::create_directory(path("photos"));
  std::ofstream(path("photos/one.png")) << "x";
  std::ofstream(path("file")) << "x";
  const auto refused = ThrowsMessage<ConfigError>(HasSubstr("--out"));
  EXPECT_THAT([&] { RunDirectory::create(path("photos"), ""); }, refused);
  EXPECT_THAT([&] { RunDirectory::create(path("file"), ""); }, refused);
  EXPECT_THROW(RunDirectory::create("", ""), ConfigError);
  EXPECT_THAT([&] { RunDirectory::resume(path("photos")); },
              ThrowsMessage<ConfigError>(HasSubstr("is not a run")));
  EXPECT_THAT([&] { RunDirectory::resume(path("none")); },
              ThrowsMessage<ConfigError>(HasSubstr("there is no run")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("photos")), {}), 1);
  EXPECT_FALSE(std::filesystem::exists(path("none")));
}

TEST_F(RunDirectoryTest, NumbersCountOn) {
  const auto next = [&] {
    return RunDirectory::create_numbered(path("runs"), "shapes", "").paths().root;
  };
  EXPECT_EQ(next(), path("runs/shapes-1"));
  EXPECT_EQ(next(), path("runs/shapes-2"));
  std::ofstream(path("runs/shapes-3")) << "a file";
  EXPECT_EQ(next(), path("runs/shapes-4"));
}

TEST_F(RunDirectoryTest, TwoRunsAtOnceAreRefused) {
  {
    const RunDirectory run = RunDirectory::create(path("a"), "");
    EXPECT_THAT([&] { RunDirectory::resume(path("a")); },
                ThrowsMessage<ConfigError>(
                    AllOf(HasSubstr(path("a")), HasSubstr("process " + std::to_string(getpid())))));
    EXPECT_NO_THROW(find_run(path("a"))) << "reading is free";
  }
  EXPECT_NO_THROW(RunDirectory::resume(path("a"))) << "the lock goes with its owner";
}

TEST_F(RunDirectoryTest, ARunThatWasKilledIsNoObstacle) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const RunDirectory run = RunDirectory::create(path("a"), "");
    [[maybe_unused]] const auto told = write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_THAT([&] { RunDirectory::resume(path("a")); },
              ThrowsMessage<ConfigError>(HasSubstr("process " + std::to_string(child))));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NO_THROW(RunDirectory::resume(path("a")));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(RunDirectoryTest, ARunThatDiedBeforeItsConfigurationMayBeMadeAnew) {
  std::filesystem::create_directory(path("a"));
  std::ofstream(path("a/lock")) << "123\n";
  std::ofstream(path("a/config.toml.partial-123-1")) << "[tr";
  EXPECT_NO_THROW(RunDirectory::create(path("a"), ""));
}

TEST_F(RunDirectoryTest, MetricsAreCutBackToTheCheckpoint) {
  const std::string file = path("metrics.jsonl");
  EXPECT_NO_THROW(cut_metrics(file, 5));
  EXPECT_FALSE(std::filesystem::exists(file));
  const std::string kept =
      "{\"step\":1,\"loss\":0.1}\n{\"note\":\"no step\"}\n{\"step\":5,\"loss\":null}\n";
  std::ofstream(file) << kept + "{\"step\":6,\"loss\":1e-05}\n{\"step\":7,\"lo";
  cut_metrics(file, 5);
  EXPECT_EQ(read_text_file(file, 1000), kept);
  cut_metrics(file, 5);
  EXPECT_EQ(read_text_file(file, 1000), kept);
  cut_metrics(file, 0);
  EXPECT_EQ(read_text_file(file, 1000), "{\"note\":\"no step\"}\n");
}

}  // namespace
}  // namespace lockstep
