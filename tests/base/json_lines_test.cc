#include "lockstep/base/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <sstream>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// A folder of its own for each test, gone after it.
class JsonLinesTest : public testing::Test {
 protected:
  JsonLinesTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("lockstep_json_lines_") + test->name() + "_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~JsonLinesTest() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "log.jsonl").string(); }
  std::string folder() const { return folder_.string(); }
  void store(const std::string& text) const { std::ofstream(path(), std::ios::binary) << text; }
  std::string stored() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(JsonLinesTest, ReadsBackWhatWasWritten) {
  const std::vector<Json> objects = {
      {{"step", 1}, {"loss", 0.1}, {"note", "größe \"x\"\nnext"}},
      Json::object(),
      {{"nested", {{"list", {1, 2.5, nullptr, true}}}}},
      {{"large", std::numeric_limits<std::uint64_t>::max()}, {"third", 1.0 / 3}}};
  {
    JsonLines lines(path());
    for (const auto& object : objects) lines.write(object);
  }
  EXPECT_EQ(read_json_lines(path()), objects);
}

TEST_F(JsonLinesTest, WritesOneLineAnObjectWithKeysInTheirOrder) {
  std::ostringstream out;
  JsonLines lines(out);
  lines.write({{"zebra", 1}, {"ape", "a\nb"}});
  EXPECT_EQ(out.str(), "{\"zebra\":1,\"ape\":\"a\\nb\"}\n");
}

TEST_F(JsonLinesTest, WritesWhatJsonHasNoWordForAsNull) {
  std::ostringstream out;
  JsonLines lines(out);
  lines.write({{"a", std::nan("")}, {"b", std::numeric_limits<double>::infinity()}});
  EXPECT_EQ(out.str(), "{\"a\":null,\"b\":null}\n");
}

TEST_F(JsonLinesTest, WritesTextThatIsNoUtf8Anyhow) {
  std::ostringstream out;
  JsonLines lines(out);
  lines.write({{"name", "\xff"}});
  EXPECT_EQ(out.str(), "{\"name\":\"\xef\xbf\xbd\"}\n");
}

TEST_F(JsonLinesTest, ALineCanBeReadWhileTheWriterLives) {
  JsonLines lines(path());
  lines.write({{"step", 1}});
  EXPECT_EQ(read_json_lines(path()).size(), 1u);
}

TEST_F(JsonLinesTest, DropsATornLastLine) {
  store("{\"step\":1}\n{\"step\":2}\n{\"ste");
  EXPECT_EQ(read_json_lines(path()).size(), 2u);
  store("{\"ste");
  EXPECT_TRUE(read_json_lines(path()).empty());
  store("");
  EXPECT_TRUE(read_json_lines(path()).empty());
}

TEST_F(JsonLinesTest, AppendsAfterTheLastWholeLine) {
  store("{\"step\":1}\n{\"ste");
  { JsonLines(path(), JsonLines::Open::kAppend).write({{"step", 2}}); }
  { JsonLines(path(), JsonLines::Open::kAppend).write({{"step", 3}}); }
  EXPECT_EQ(stored(), "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n");
  store("{\"ste");
  { JsonLines(path(), JsonLines::Open::kAppend).write({{"step", 1}}); }
  EXPECT_EQ(stored(), "{\"step\":1}\n");
}

TEST_F(JsonLinesTest, AppendsToAFileThatIsNotThereYet) {
  { JsonLines(path(), JsonLines::Open::kAppend).write({{"step", 1}}); }
  EXPECT_EQ(stored(), "{\"step\":1}\n");
}

TEST_F(JsonLinesTest, TruncatesUnlessToldOtherwise) {
  store("{\"step\":1}\n");
  { JsonLines lines(path()); }
  EXPECT_EQ(stored(), "");
}

TEST_F(JsonLinesTest, NamesFileAndLineOfADamagedLine) {
  for (const char* damaged : {"{\"step\":", "[1]", "3", "nonsense", "{}{}", "\"a\""}) {
    store(std::string("{\"step\":1}\n\n") + damaged + "\n{\"step\":3}\n");
    EXPECT_THAT([&] { read_json_lines(path()); },
                ThrowsMessage<DataError>(HasSubstr(path() + ":3:")))
        << damaged;
  }
}

TEST_F(JsonLinesTest, NamesAFileThatCannotBeReadOrWritten) {
  const std::string missing = folder() + "/missing/log.jsonl";
  EXPECT_THAT([&] { read_json_lines(missing); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(missing), HasSubstr("No such file"))));
  EXPECT_THAT([&] { JsonLines lines(missing); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(missing), HasSubstr("No such file"))));
  EXPECT_THAT([&] { read_json_lines(folder()); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(folder()), HasSubstr("not a file"))));
  EXPECT_THAT([&] { JsonLines lines(folder()); }, ThrowsMessage<DataError>(HasSubstr(folder())));
}

TEST_F(JsonLinesTest, SaysWhenADiskIsFull) {
  JsonLines lines("/dev/full");
  EXPECT_THAT(
      [&] {
        lines.write({{"step", 1}});
      },
      ThrowsMessage<DataError>(HasSubstr("/dev/full")));
}

}  // namespace
}  // namespace lockstep
