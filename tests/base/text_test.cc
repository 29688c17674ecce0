#include "lockstep/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// What a ConfigError of `call` says, or "" if it throws none.
template <typename Call>
std::string complaint(Call call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ParseSize, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_size("0", "s"), 0u);
  EXPECT_EQ(parse_size("17", "s"), 17u);
  EXPECT_EQ(parse_size("4K", "s"), 4096u);
  EXPECT_EQ(parse_size(" 4 kB ", "s"), 4096u);
  EXPECT_EQ(parse_size("1.5M", "s"), 3u << 19);
  EXPECT_EQ(parse_size("128m", "s"), 128u << 20);
  EXPECT_EQ(parse_size("2G", "s"), std::size_t{2} << 30);
  EXPECT_EQ(parse_size("3T", "s"), std::size_t{3} << 40);
}

TEST(ParseSize, AcceptsTheLargestSizeItsErrorNames) {
  EXPECT_EQ(parse_size("8192T", "s"), std::size_t{1} << 53);
}

TEST(ParseSize, RefusesWhatDoesNotFit) {
  for (const char* text : {"8193T", "99999999T", "1e300G", "-1", "-4K", "inf", "nan"}) {
    EXPECT_THAT(complaint([&] { parse_size(text, "--sizes"); }),
                AllOf(HasSubstr("--sizes"), HasSubstr(text), HasSubstr("out of range")))
        << text;
  }
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", " ", "K", "B", "KB", "4X", "4KK", "4 K K", "0x10", "1,5M", "+-4",
                           "four", "4\xc2\xb5"}) {
    EXPECT_THAT(complaint([&] { parse_size(text, "--sizes"); }),
                AllOf(HasSubstr("--sizes"), HasSubstr("not a size"), HasSubstr("64K")))
        << text;
  }
}

TEST(FormatSize, IsReadBackAsTheSameSize) {
  for (const int shift : {0, 10, 20, 30, 40}) {
    for (const std::size_t count : {1, 2, 7, 64, 100, 999, 1000, 1023}) {
      const std::size_t bytes = count << shift;
      EXPECT_EQ(parse_size(format_size(bytes), "s"), bytes);
    }
  }
  EXPECT_EQ(format_size(1536), "1.5K");
  EXPECT_EQ(format_size(0), "0");
}

TEST(FormatSize, CarriesIntoTheNextUnit) {
  EXPECT_EQ(format_size((1u << 20) - 1), "1M");
  EXPECT_EQ(format_size((1u << 20) - 1024), "1023K");
  EXPECT_EQ(format_size((std::size_t{1} << 30) - 1), "1G");
}

TEST(FormatSeconds, PicksTheUnit) {
  EXPECT_EQ(format_seconds(0), "0.0 us");
  EXPECT_EQ(format_seconds(1.5e-6), "1.5 us");
  EXPECT_EQ(format_seconds(3.4e-3), "3.40 ms");
  EXPECT_EQ(format_seconds(5.6), "5.60 s");
}

TEST(ParseInteger, CoversTheWholeRangeAndNoMore) {
  EXPECT_EQ(parse_integer(" 42 ", "n"), 42);
  EXPECT_EQ(parse_integer("+42", "n"), 42);
  EXPECT_EQ(parse_integer("-9223372036854775808", "n"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_integer("9223372036854775807", "n"), std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(complaint([] { parse_integer("9223372036854775808", "n"); }),
              HasSubstr("out of range"));
}

TEST(ParseInteger, RefusesTheRest) {
  for (const char* text : {"", "+", "-", "+-1", "--1", "++1", "1.0", "1e3", "0x1", "1 2", "one"}) {
    EXPECT_THAT(complaint([&] { parse_integer(text, "rounds"); }),
                AllOf(HasSubstr("rounds"), HasSubstr("not a whole number")))
        << text;
  }
}

TEST(ParseReal, ReadsDecimalsAndExponents) {
  EXPECT_EQ(parse_real("0.1", "x"), 0.1);
  EXPECT_EQ(parse_real("-1e-4", "x"), -1e-4);
  EXPECT_EQ(parse_real("+.5", "x"), 0.5);
  EXPECT_THAT(complaint([] { parse_real("1e400", "x"); }), HasSubstr("out of range"));
  for (const char* text : {"", ".", "1..2", "1,5", "1e", "+-1"}) {
    EXPECT_THAT(complaint([&] { parse_real(text, "lr"); }), HasSubstr("not a number")) << text;
  }
}

TEST(Split, KeepsEmptyPiecesBetweenSeparatorsOnly) {
  EXPECT_THAT(split("", ','), IsEmpty());
  EXPECT_THAT(split(" \t ", ','), IsEmpty());
  EXPECT_THAT(split("a", ','), ElementsAre("a"));
  EXPECT_THAT(split(" a , b b ,c ", ','), ElementsAre("a", "b b", "c"));
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
}

TEST(Trim, TakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \t\r\na b\n "), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

const std::vector<std::string> kNames = {"ring", "halving-doubling", "naive", "double-tree"};

TEST(NearestName, FindsSlipsAndBeginnings) {
  EXPECT_EQ(nearest_name("rnig", kNames), "ring");
  EXPECT_EQ(nearest_name("ringg", kNames), "ring");
  EXPECT_EQ(nearest_name("nave", kNames), "naive");
  EXPECT_EQ(nearest_name("halving", kNames), "halving-doubling");
  EXPECT_EQ(nearest_name("halfing-doubeling", kNames), "halving-doubling");
}

TEST(NearestName, GivesNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("butterfly", kNames), "");
  EXPECT_EQ(nearest_name("ring", {}), "");
  // Two keystrokes turn any short name into any other.
  const std::vector<std::string> brief = {"ab", "xy"};
  EXPECT_EQ(nearest_name("", brief), "");
  EXPECT_EQ(nearest_name("q", brief), "");
  EXPECT_EQ(nearest_name("pq", brief), "");
  EXPECT_EQ(nearest_name("xq", brief), "xy");
}

TEST(UnknownName, ListsWhatIsValid) {
  EXPECT_EQ(unknown_name("algorithm", "rnig", kNames),
            "unknown algorithm \"rnig\"; did you mean \"ring\"? "
            "Valid: ring, halving-doubling, naive, double-tree");
  EXPECT_THAT(unknown_name("algorithm", "butterfly", kNames),
              AllOf(HasSubstr("Valid: ring"), Not(HasSubstr("did you mean"))));
}

TEST(FormatTable, AlignsTheFirstColumnLeftAndTheOthersRight) {
  EXPECT_EQ(format_table({{"algorithm", "4K", "1M"}, {"ring", "12.5", "3"}}),
            "algorithm    4K  1M\n"
            "ring       12.5   3\n");
}

TEST(FormatTable, CountsColumnsOnAScreenNotBytes) {
  EXPECT_EQ(format_table({{"größe", "µs"}, {"abcdef", "100"}}),
            "größe    µs\n"
            "abcdef  100\n");
}

TEST(FormatTable, TakesRaggedRowsAndLeavesNoBlanksBehind) {
  EXPECT_EQ(format_table({{"a"}, {"long", "x", ""}, {}}), "a\nlong  x\n\n");
  EXPECT_EQ(format_table({}), "");
}

// The published values of FNV-1a: streams of random numbers and saved runs depend on them.
TEST(StableHash, IsFnv1a) {
  EXPECT_EQ(stable_hash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(stable_hash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(stable_hash("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace lockstep
