#include "lockstep/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("lockstep_file_") + test->name() + "_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "x") const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                  std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(FileTest, ReadsBackWhatWasWritten) {
  for (const std::size_t size : {0u, 1u, 1'000'000u}) {
    const std::string text(size, '\0');
    write_file(path(), text);
    EXPECT_EQ(read_text_file(path(), size), text);
    EXPECT_EQ(read_file(path(), size).size(), size);
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, TheOldContentStaysUntilTheNewOneIsWhole) {
  write_file(path(), "old");
  {
    AtomicFile file(path());
    file.append(std::as_bytes(std::span("new", 3)));
    EXPECT_EQ(read_text_file(path(), 10), "old");
    EXPECT_EQ(files(), 2u);
  }
  EXPECT_EQ(read_text_file(path(), 10), "old");
  EXPECT_EQ(files(), 1u) << "what was not committed is gone";
  {
    AtomicFile file(path());
    file.append(std::as_bytes(std::span("new", 3)));
    file.commit();
    EXPECT_EQ(read_text_file(path(), 10), "new");
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, WhatAKilledWriterLeftIsKnownByItsName) {
  const AtomicFile file(path());
  for (const auto& entry : std::filesystem::directory_iterator(path("."))) {
    EXPECT_TRUE(is_partial_file(entry.path().filename().string()));
  }
  EXPECT_FALSE(is_partial_file("step-00000001.ckpt"));
}

TEST_F(FileTest, RefusesWhatItCannotReadOrIsTooLong) {
  EXPECT_THAT([&] { read_file(path(), 10); }, ThrowsMessage<DataError>(HasSubstr(path())));
  EXPECT_THAT([&] { read_file(path("."), 10); }, ThrowsMessage<DataError>(HasSubstr("not a file")));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT([&] { read_file(path("pipe"), 10); },
              ThrowsMessage<DataError>(HasSubstr("not a file")));
  write_file(path(), "12345678901");
  EXPECT_THAT([&] { read_text_file(path(), 10); }, ThrowsMessage<DataError>(HasSubstr("11 bytes")));
}

TEST_F(FileTest, RefusesWhatItCannotWrite) {
  EXPECT_THAT([&] { write_file(path("none/x"), "a"); },
              ThrowsMessage<DataError>(HasSubstr("none/x")));
  std::filesystem::create_directory(path("folder"));
  EXPECT_THAT([&] { write_file(path("folder"), "a"); },
              ThrowsMessage<DataError>(HasSubstr("folder")));
  EXPECT_EQ(files(), 1u) << "nothing half-written stays";
}

}  // namespace
}  // namespace lockstep
