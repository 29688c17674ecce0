#include "lockstep/train/arrival_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ArrivalFile : public FolderTest {
 protected:
  ArrivalFile() {
    append_arrivals(file_, 10, {{0, 1, 1}, {1, 0}});
    append_arrivals(file_, 20, {{2}, {}});
  }
  std::string error() const {
    try {
      read_arrivals(file_, 2, 3);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  std::string text() const { return read_text_file(file_, 1 << 20); }

  const std::string file_ = path("arrivals.jsonl");
};

TEST_F(ArrivalFile, IsReadAsItWasWritten) {
  append_arrivals(file_, 30, {{}, {}});  // nobody came: no line
  end_arrivals(file_, 30);
  EXPECT_EQ(read_arrivals(file_, 2, 3), (ArrivalRecord{{0, 1, 1, 2}, {1, 0}}));
}

TEST_F(ArrivalFile, ARunWithoutAServersArrivalsEndsToo) {
  end_arrivals(path("other.jsonl"), 5);
  EXPECT_EQ(read_arrivals(path("other.jsonl"), 1, 1), (ArrivalRecord{{}}));
}

TEST_F(ArrivalFile, ARunThatIsNotOverIsRefused) {
  EXPECT_THAT(error(), AllOf(HasSubstr("cannot be replayed"), HasSubstr("its end")));
}

TEST_F(ArrivalFile, AResumedRunIsRefused) {
  cut_arrivals(file_, 10);
  append_arrivals(file_, 20, {{0}, {0}});
  end_arrivals(file_, 20);
  EXPECT_THAT(text(), testing::Not(HasSubstr("[[2]")));
  EXPECT_THAT(error(), AllOf(HasSubstr("cannot be replayed"), HasSubstr("resumed after step 10")));
}

TEST_F(ArrivalFile, ARunThatBeganAnewIsNoResumedOne) {
  cut_arrivals(file_, 0);
  append_arrivals(file_, 10, {{0}, {1}});
  end_arrivals(file_, 10);
  EXPECT_EQ(read_arrivals(file_, 2, 3), (ArrivalRecord{{0}, {1}}));
  cut_arrivals(path("none.jsonl"), 10);
  EXPECT_FALSE(std::filesystem::exists(path("none.jsonl")));
}

TEST_F(ArrivalFile, SaysWhatDoesNotFitTheRun) {
  end_arrivals(file_, 20);
  EXPECT_THROW(read_arrivals(file_, 3, 3), DataError);
  EXPECT_THROW(read_arrivals(file_, 2, 2), DataError);
  EXPECT_THROW(read_arrivals(path("none.jsonl"), 2, 3), DataError);
}

TEST_F(ArrivalFile, EveryDamageIsNoticed) {
  end_arrivals(file_, 20);
  const std::string whole = text();
  for (std::size_t cut = 0; cut + 1 < whole.size(); ++cut) {
    write_file(file_, whole.substr(0, cut));
    EXPECT_NE(error(), "no error") << cut;
  }
  for (std::size_t at = 0; at + 1 < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = damaged[at] == '2' ? '1' : '2';
    // Only the step of the last line is nobody's concern.
    if (at >= whole.rfind("\"step\"") && at < whole.find(",\"end\"")) continue;
    write_file(file_, damaged);
    EXPECT_NE(error(), "no error") << at << ": " << damaged;
  }
}

}  // namespace
}  // namespace lockstep
