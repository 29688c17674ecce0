// The laws that all assignments keep.
#include "lockstep/assign/assignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "tests/assign/assigned.h"

namespace lockstep {
namespace {

using testing::Each;
using testing::HasSubstr;

struct Case {
  std::string name;
  Settings settings;
  int copies;
};

// All that are registered, for 8 workers in 4 households and 2 neighbourhoods.
const Layout kLayout{8, 4, 2};
const std::vector<Case> kCases{{"disjoint", {}, 1},
                               {"full", {}, 8},
                               {"coarse", {{"copies", "4"}}, 4},
                               {"coarse", {{"shards", "4"}}, 2},
                               {"medium", {{"copies", "3"}}, 3},
                               {"fine", {{"copies", "3"}}, 3},
                               {"fine", {{"copies", "8"}}, 8},
                               {"household-shards", {}, 1},
                               {"household-shards", {{"households", "8"}, {"shards", "2"}}, 4},
                               {"by-neighbourhood", {}, 2},
                               {"label-skew", {}, 1},
                               {"unequal", {{"weights", "1,2,3,4,5,6,7,8"}}, 1}};

TEST(Assignment, EverySampleIsOnExactlyCWorkersOnceEach) {
  for (const auto& [name, settings, copies] : kCases) {
    const auto assignment = made(name, settings);
    EXPECT_EQ(assignment->copies(kLayout), copies) << name;
    for (const std::size_t count : {100u, 1001u, 5000u}) {
      const Shards shards = assigned(*assignment, count, kLayout);
      ASSERT_EQ(shards.of.size(), 8u);
      EXPECT_THAT(holders(shards, count), Each(copies)) << name;
      for (auto shard : shards.of) {
        std::sort(shard.begin(), shard.end());
        EXPECT_TRUE(std::adjacent_find(shard.begin(), shard.end()) == shard.end()) << name;
      }
    }
  }
}

TEST(Assignment, ShardsAreEquallyLargeWhereNothingElseIsPromised) {
  for (const auto& [name, settings, copies] : kCases) {
    if (name == "label-skew" || name == "unequal") continue;
    for (const std::size_t count : {100u, 1001u, 5000u}) {
      const Shards shards = assigned(*made(name, settings), count, kLayout);
      const double share = copies * static_cast<double>(count) / 8;
      // The last card of each round: of a household's, of a worker's.
      const double slack = name == "medium" ? 3 : name == "disjoint" || name == "fine" ? 1 : 2;
      for (const auto& shard : shards.of) {
        EXPECT_NEAR(static_cast<double>(shard.size()), share, slack) << name << " " << count;
      }
    }
  }
}

TEST(Assignment, TheSeedDecides) {
  for (const auto& [name, settings, copies] : kCases) {
    const auto assignment = made(name, settings);
    const auto first = assigned(*assignment, 500, kLayout, true, 1).of;
    EXPECT_EQ(first, assigned(*assignment, 500, kLayout, true, 1).of) << name;
    EXPECT_NE(first, assigned(*assignment, 500, kLayout, true, 2).of) << name;
  }
}

TEST(Assignment, InOrderEveryShardAscends) {
  for (const auto& [name, settings, copies] : kCases) {
    for (const auto& shard : assigned(*made(name, settings), 500, kLayout, false).of) {
      EXPECT_TRUE(std::is_sorted(shard.begin(), shard.end())) << name;
    }
  }
}

TEST(Assignment, OneWorkerHasEverything) {
  for (const auto& name : Registry<Assignment>::instance().names()) {
    const bool copies = name == "coarse" || name == "medium" || name == "fine";
    const auto assignment = made(name, copies ? Settings{{"copies", "1"}} : Settings{});
    EXPECT_EQ(assigned(*assignment, 20, Layout{}, false).of.at(0), first_samples(20)) << name;
  }
}

template <typename Act>
std::string refusal(const Act& act) {
  try {
    act();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Assignment, AnEmptyShardIsRefused) {
  for (const auto* name : {"disjoint", "unequal"}) {
    EXPECT_THAT(refusal([&] {
                  assigned(*made(name), 3, {4, 1, 1});
                }),
                HasSubstr("worker 3 would have no samples: 3 samples are shared among 4 workers"));
  }
  EXPECT_THAT(refusal([&] {
                assigned(*made("label-skew"), 3, {4, 1, 1});
              }),
              HasSubstr("use a larger alpha or fewer workers"));
  EXPECT_THAT(refusal([&] { assigned(*made("disjoint"), 3, {0, 1, 1}); }), HasSubstr("at least 1"));
}

TEST(Assignment, WhatDoesNotFitTheWorkersIsRefusedWithWhatWould) {
  const Layout layout{16, 4, 1};
  EXPECT_THAT(refusal([&] {
                assigned(*made("coarse", {{"shards", "3"}}), 100, layout);
              }),
              HasSubstr("shards = 3 does not divide the 16 workers; it must be 1, 2, 4, 8 or 16"));
  EXPECT_THAT(refusal([&] {
                assigned(*made("coarse", {{"copies", "5"}}), 100, layout);
              }),
              HasSubstr("copies = 5 does not divide the 16 workers"));
  for (const auto* name : {"medium", "fine"}) {
    EXPECT_THAT(refusal([&] {
                  assigned(*made(name, {{"copies", "17"}}), 100, layout);
                }),
                HasSubstr("copies must be 1 to 16"));
  }
  EXPECT_THAT(refusal([&] {
                assigned(*made("household-shards", {{"shards", "3"}}), 100, layout);
              }),
              HasSubstr("shards = 3 does not divide the 4 households; it must be 1, 2 or 4"));
  EXPECT_THAT(refusal([&] {
                assigned(*made("household-shards", {{"households", "5"}}), 100, layout);
              }),
              HasSubstr("households = 5 does not divide the 16 workers"));
  EXPECT_THAT(refusal([&] {
                assigned(*made("by-neighbourhood", {{"neighbourhoods", "3"}}), 9, layout);
              }),
              HasSubstr("neighbourhoods = 3 does not divide the 4 households"));
  EXPECT_THAT(refusal([&] {
                assigned(*made("unequal", {{"weights", "1,2"}}), 100, layout);
              }),
              HasSubstr("2 weights for 16 workers"));
  EXPECT_THAT(refusal([&] { made("unequal", {{"weights", "1,0"}}); }), HasSubstr("greater than 0"));
  EXPECT_THAT(refusal([&] {
                made("label-skew", {{"scope", "global"}});
              }),
              HasSubstr("undo the skew"));
}

}  // namespace
}  // namespace lockstep
