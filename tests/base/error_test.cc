#include "lockstep/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Error, EachKindHasItsExitCode) {
  EXPECT_EQ(ConfigError("x").exit_code(), 2);
  EXPECT_EQ(DataError("x").exit_code(), 3);
  EXPECT_EQ(CommError("x").exit_code(), 4);
}

TEST(Error, FormatsItsMessage) {
  EXPECT_STREQ(CommError("rank {} waits for {}", 3, "rank 1").what(), "rank 3 waits for rank 1");
  const std::string from_a_user = "{}";
  EXPECT_STREQ(ConfigError("unknown name {}", from_a_user).what(), "unknown name {}");
}

// The program catches Error and nothing else of what a user can cause.
TEST(Error, EveryKindIsAnError) {
  EXPECT_THROW(throw ConfigError("a"), Error);
  EXPECT_THROW(throw DataError("a"), Error);
  EXPECT_THROW(throw CommError("a"), Error);
  EXPECT_FALSE((std::is_base_of_v<Error, InternalError>)) << "a bug is not the user's error";
}

TEST(Check, PassesWithoutEvaluatingItsMessage) {
  int evaluated = 0;
  LOCKSTEP_CHECK(true, "{}", ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

TEST(Check, NamesTheConditionTheMessageAndThePlaceInTheProject) {
  try {
    detail::check_failed("/home/somebody/lockstep/lockstep/base/x.cc", 7, "a < b", "a is 2");
    FAIL() << "returned";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), AllOf(StartsWith("internal error at lockstep/base/x.cc:7"),
                                    HasSubstr("a is 2"), HasSubstr("a < b")));
    EXPECT_THAT(error.what(), Not(HasSubstr("somebody")));
  }
}

TEST(Check, IsOneStatement) {
  bool reached = false;
  if (reached)
    LOCKSTEP_CHECK(false, "not reached");
  else
    reached = true;
  EXPECT_TRUE(reached);
  EXPECT_THROW(LOCKSTEP_CHECK(1 > 2, "{}", 5), InternalError);
}

}  // namespace
}  // namespace lockstep
