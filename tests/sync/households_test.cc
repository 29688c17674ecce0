// Who lives with whom, what does not go together, and what [assign] hears of it.
#include <gmock/gmock.h>

#include <functional>

#include "lockstep/base/error.h"
#include "lockstep/sync/arrangement.h"
#include "tests/sync/family.h"
#include "tests/sync/strategy_runs.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no refusal";
}

std::string refusal_of(int count, const Settings& settings) {
  return refusal([&] { quadratic_job(together({workers(count)}, settings)); });
}

const Settings kHouseholds{"sync.name=households"};

TEST(Arrangement, EqualHouseholdsAreRunsOfWorkers) {
  const Arrangement all = Arrangement::equal(8, 4, 2);
  EXPECT_THAT(all.household_of(0), ElementsAre(0, 1));
  EXPECT_THAT(all.household_of(3), ElementsAre(2, 3));
  EXPECT_THAT(all.household_of(7), ElementsAre(6, 7));
  EXPECT_THAT(all.neighbourhood_of(3), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(all.neighbourhood_of(4), ElementsAre(4, 5, 6, 7));
  EXPECT_TRUE(all.equal_households());
}

TEST(Arrangement, HouseholdsMayHaveSizesOfTheirOwn) {
  const Arrangement all({1, 2, 3, 2}, 2);
  EXPECT_EQ(all.workers(), 8);
  EXPECT_THAT(all.household_of(0), ElementsAre(0));
  EXPECT_THAT(all.household_of(2), ElementsAre(1, 2));
  EXPECT_THAT(all.household_of(5), ElementsAre(3, 4, 5));
  EXPECT_THAT(all.neighbourhood_of(1), ElementsAre(0, 1, 2));
  EXPECT_THAT(all.neighbourhood_of(7), ElementsAre(3, 4, 5, 6, 7));
  EXPECT_FALSE(all.equal_households());
}

TEST(Arrangement, EveryoneAgreesWhoLivesThere) {
  for (const Arrangement& all : {Arrangement::equal(12, 6, 3), Arrangement({3, 1, 1, 5}, 2)}) {
    for (int worker = 0; worker < all.workers(); ++worker) {
      const auto household = all.household_of(worker), around = all.neighbourhood_of(worker);
      EXPECT_THAT(household, testing::Contains(worker));
      EXPECT_THAT(around, testing::IsSupersetOf(household));
      for (const int other : household) EXPECT_EQ(all.household_of(other), household);
      for (const int other : around) EXPECT_EQ(all.neighbourhood_of(other), around);
    }
  }
}

TEST(Households, RefuseWhatDoesNotDivide) {
  EXPECT_THAT(refusal_of(8, together(kHouseholds, {"sync.households=3"})),
              AllOf(HasSubstr("households = 3"), HasSubstr("1, 2, 4 or 8")));
  EXPECT_THAT(refusal_of(8, together(kHouseholds, {"sync.households=4", "sync.neighbourhoods=3",
                                                   "sync.neighbourhood_period=2"})),
              AllOf(HasSubstr("neighbourhoods = 3"), HasSubstr("1, 2 or 4")));
}

TEST(Households, RefusePeriodsThatDoNotGrowOutwards) {
  for (const char* period : {"16", "17"}) {
    EXPECT_THAT(
        refusal_of(4, together(kHouseholds, {std::string("sync.household_period=") + period})),
        AllOf(HasSubstr("household_period = "), HasSubstr("world_period = 16"),
              HasSubstr("\"local\"")));
  }
  const Settings around = together(kHouseholds, {"sync.neighbourhoods=2"});
  for (const char* period : {"1", "16", "20"}) {
    EXPECT_THAT(
        refusal_of(4, together(around, {std::string("sync.neighbourhood_period=") + period})),
        AllOf(HasSubstr("neighbourhood_period"), HasSubstr("must be less")));
  }
  EXPECT_THAT(refusal_of(4, around), HasSubstr("give both"));
  EXPECT_THAT(refusal_of(4, together(kHouseholds, {"sync.neighbourhood_period=2"})),
              HasSubstr("give both"));
}

TEST(Households, RefuseSizesThatDoNotFit) {
  EXPECT_THAT(refusal_of(4, together(kHouseholds, {"sync.household_sizes=2,3"})),
              AllOf(HasSubstr("add up to 5"), HasSubstr("there are 4")));
  EXPECT_THAT(refusal_of(4, together(kHouseholds, {"sync.household_sizes=3.5,0.5"})),
              HasSubstr("3.5"));
  EXPECT_THAT(
      refusal_of(4, together(kHouseholds, {"sync.household_sizes=3,1", "sync.households=4"})),
      HasSubstr("give one of them"));
}

TEST(Households, AreThoseOfTheAssignment) {
  const Settings four{workers(8), "sync.name=households", "sync.households=4"};
  const auto copies = [&](const Settings& settings) {
    return quadratic_job(together(four, settings)).sampler().copies();
  };
  EXPECT_EQ(copies({"assign.name=household-shards"}), 1);
  EXPECT_EQ(copies({"assign.name=household-shards", "assign.shards=2"}), 2);
  EXPECT_EQ(copies({"assign.name=household-shards", "assign.shards=1"}), 4);
  EXPECT_EQ(copies({"assign.name=by-neighbourhood", "sync.neighbourhoods=2",
                    "sync.neighbourhood_period=2"}),
            2);
  EXPECT_THAT(refusal_of(8, together(four, {"assign.name=household-shards", "assign.shards=3"})),
              HasSubstr("households"));
}

TEST(Households, OfLocalSgdAreItsWorkers) {
  const Job job = quadratic_job(
      {workers(4), "sync.name=local", "assign.name=household-shards", "assign.shards=2"});
  EXPECT_EQ(job.sampler().copies(), 2);
}

TEST(Households, OfDifferentSizesHaveNoShardsOfTheirOwn) {
  const Settings uneven = together(kHouseholds, {"sync.household_sizes=3,1"});
  for (const char* name : {"household-shards", "by-neighbourhood"}) {
    const Settings assign{std::string("assign.name=") + name};
    EXPECT_THAT(refusal_of(4, together(uneven, assign)),
                AllOf(HasSubstr(name), HasSubstr("different sizes"), HasSubstr("disjoint")));
    EXPECT_EQ(refusal_of(4, together(together(uneven, assign), {"assign.households=2"})),
              "no refusal");
  }
  EXPECT_EQ(refusal_of(4, uneven), "no refusal");
}

}  // namespace
}  // namespace lockstep
