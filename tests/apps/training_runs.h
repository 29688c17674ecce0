// Runs of `lockstep train` in a folder of their own, for tests to look at what they leave behind.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/apps/program.h"

namespace lockstep {

namespace fs = std::filesystem;

class TrainingRuns : public testing::Test {
 protected:
  TrainingRuns()
      : folder_(fs::temp_directory_path() / ("lockstep-train-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);  // of a process of this number that was killed
    fs::create_directories(folder_);
  }
  ~TrainingRuns() override { fs::remove_all(folder_); }

  std::string run(const std::string& name) const { return (folder_ / name).string(); }
  // A short run into its own directory.
  Outcome train(const std::string& name, const std::string& more = "") const {
    return lockstep("train --out " + run(name) + " " + kSmall + more);
  }
  std::string content(const std::string& path) const {
    std::ifstream file(folder_ / path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static std::vector<std::string> worlds() {
    std::vector<std::string> worlds{"threads"};
#ifdef LOCKSTEP_HAVE_SIM
    worlds.push_back("sim");
#endif
#ifdef LOCKSTEP_HAVE_MPI
    worlds.push_back("mpi");
#endif
    return worlds;
  }
  std::vector<nlohmann::json> metrics(const std::string& name) const {
    std::istringstream lines(content(name + "/metrics.jsonl"));
    std::vector<nlohmann::json> all;
    for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
    return all;
  }

  // A line of metrics, or a summary, without how long it took.
  static nlohmann::json but_time(nlohmann::json json) {
    for (const char* key : {"seconds", "waited_for_batches", "by_worker"}) json.erase(key);
    return json;
  }

  static constexpr const char* kSmall =
      "--preset default --set model.name=mlp --set model.widths=16 --set data.samples=400 --set "
      "data.test=100 "
      "--set train.epochs=2 --set train.local_batch=20 --set optim.lr=0.01 --workers 2 ";
  fs::path folder_;
};

// Starts a run and kills it when it has written `lines` lines of metrics, long before its end.
inline void kill_after(const std::string& arguments, const std::string& metrics, int lines,
                       int signal) {
  const pid_t child = fork();
  if (child == 0) {
    const std::string command =
        "exec '" + std::string(LOCKSTEP_PROGRAM) + "' " + arguments + " >/dev/null 2>&1 </dev/null";
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  for (int status = 0; waitpid(child, &status, WNOHANG) == 0;) {
    std::ifstream file(metrics);
    int seen = 0;
    for (std::string line; std::getline(file, line);) ++seen;
    if (seen < lines) continue;
    kill(child, signal);
    waitpid(child, &status, 0);
    return;
  }
  FAIL() << "it ended before it was killed: " << arguments;
}

}  // namespace lockstep
