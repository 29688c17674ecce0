#include "lockstep/server/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string error_of(Arrivals& arrivals, int from) {
  try {
    arrivals.note(from);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Arrivals, ALiveRunTakesAnybodyAndWritesItDown) {
  Arrivals arrivals;
  EXPECT_FALSE(arrivals.replays());
  for (const int from : {2, 0, 0}) {
    EXPECT_EQ(arrivals.next(), kAnyRank);
    arrivals.note(from);
  }
  EXPECT_THAT(arrivals.take_noted(), ElementsAre(2, 0, 0));
  EXPECT_THAT(arrivals.take_noted(), IsEmpty());
  arrivals.note(1);
  EXPECT_THAT(arrivals.take_noted(), ElementsAre(1));
}

TEST(Arrivals, AReplayFollowsItsListAndWritesTheSameDown) {
  Arrivals arrivals({1, 0, 1});
  EXPECT_TRUE(arrivals.replays());
  for (const int from : {1, 0, 1}) {
    EXPECT_EQ(arrivals.next(), from);
    arrivals.note(from);
  }
  EXPECT_EQ(arrivals.next(), kAnyRank);
  EXPECT_THAT(arrivals.take_noted(), ElementsAre(1, 0, 1));
}

TEST(Arrivals, AReplayThatDoesNotFollowItsListSaysWhere) {
  Arrivals arrivals({1, 0});
  arrivals.note(1);
  EXPECT_THAT(error_of(arrivals, 2),
              AllOf(HasSubstr("message 2 comes from worker 2"), HasSubstr("instead of worker 0")));
  EXPECT_EQ(error_of(arrivals, 0), "no error");  // the wrong one has not been noted
  EXPECT_THAT(error_of(arrivals, 0), AllOf(HasSubstr("message 3"), HasSubstr("has ended")));
}

}  // namespace
}  // namespace lockstep
