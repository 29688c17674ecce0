#include "lockstep/train/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using RunLogTest = FolderTest;

TEST_F(RunLogTest, WritesLinesWithTheirSecondsAtOnce) {
  RunLog log(path("log.txt"));
  log.write(0, "begins");
  log.write(12.3456, "two\nlines\n");
  EXPECT_EQ(read_text_file(path("log.txt"), 1000),
            "      0.000 s  begins\n"
            "     12.346 s  two\n"
            "               lines\n");
}

TEST_F(RunLogTest, GoesOnBehindWhatIsThere) {
  std::ofstream(path("log.txt")) << "      0.000 s  beg";
  { RunLog(path("log.txt")).write(1, "again"); }
  { RunLog(path("log.txt")).write(2, "and again"); }
  EXPECT_EQ(read_text_file(path("log.txt"), 1000),
            "      0.000 s  beg\n"
            "      1.000 s  again\n"
            "      2.000 s  and again\n");
}

TEST_F(RunLogTest, NamesTheFileItCannotWrite) {
  EXPECT_THAT([&] { RunLog(path("none/log.txt")); },
              testing::ThrowsMessage<DataError>(testing::HasSubstr("none/log.txt")));
  RunLog full("/dev/full");
  EXPECT_THAT([&] { full.write(1, "x"); },
              testing::ThrowsMessage<DataError>(testing::HasSubstr("/dev/full")));
}

}  // namespace
}  // namespace lockstep
