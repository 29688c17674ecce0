// A folder of its own for each test and process, gone after it. On mpi every process runs the test;
// what rank 0 writes is in the folder of the process that leads.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace lockstep {

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("lockstep_train_") + test->test_suite_name() + "_" + test->name() + "_" +
               std::to_string(getpid()));
    std::filesystem::remove_all(folder_);  // of a process of this number that was killed
    std::filesystem::create_directories(folder_);
  }
  ~FolderTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace lockstep
