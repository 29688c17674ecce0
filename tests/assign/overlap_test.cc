// Who has how much in common with whom: coarse, medium, fine, households, neighbourhoods.
#include <gtest/gtest.h>

#include <set>

#include "tests/assign/assigned.h"

namespace lockstep {
namespace {

TEST(Coarse, WorkersHaveAllOrNothingInCommon) {
  const Shards shards = assigned(*made("coarse", {{"copies", "4"}}), 1000, {16, 1, 1});
  for (int a = 0; a < 16; ++a) {
    for (int b = 0; b < 16; ++b) {
      EXPECT_EQ(in_common(shards, a, b), a % 4 == b % 4 ? 250u : 0u);
    }
  }
}

TEST(Medium, ExactlyTheNeighboursOnTheRingHaveSamplesInCommon) {
  for (const int copies : {1, 2, 4, 8}) {
    const auto assignment = made("medium", {{"copies", std::to_string(copies)}});
    const Shards shards = assigned(*assignment, 1600, {16, 1, 1});
    for (int a = 0; a < 16; ++a) {
      int meets = 0;
      for (int b = 0; b < 16; ++b) {
        const int apart = std::min((a - b + 16) % 16, (b - a + 16) % 16);
        EXPECT_EQ(in_common(shards, a, b), 100u * std::max(0, copies - apart));
        meets += in_common(shards, a, b) > 0 ? 1 : 0;
      }
      EXPECT_EQ(meets, 2 * copies - 1);
    }
  }
}

// The most that two workers have in common, less the fewest.
int spread(const Shards& shards, std::size_t count) {
  const std::size_t workers = shards.of.size();
  std::vector<std::vector<std::size_t>> holders(count);
  for (std::size_t w = 0; w < workers; ++w) {
    for (const SampleId sample : shards.of[w]) holders[sample].push_back(w);
  }
  std::vector<int> common(workers * workers);
  for (const auto& group : holders) {
    for (const std::size_t a : group) {
      for (const std::size_t b : group) ++common[a * workers + b];
    }
  }
  int least = static_cast<int>(count), most = 0;
  for (std::size_t a = 0; a < workers; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      least = std::min(least, common[a * workers + b]);
      most = std::max(most, common[a * workers + b]);
    }
  }
  return most - least;
}

int fine_spread(int workers, int copies, std::size_t count) {
  const auto assignment = made("fine", {{"copies", std::to_string(copies)}});
  return spread(assigned(*assignment, count, {workers, 1, 1}), count);
}

TEST(Fine, AnyTwoWorkersHaveEquallyManyInCommon) {
  for (const int workers : {2, 3, 4, 5, 6, 7, 8, 12, 14, 16}) {
    for (int copies = 1; copies <= workers; ++copies) {
      for (const std::size_t count : {50u, 333u, 4000u}) {
        EXPECT_LE(fine_spread(workers, copies, count), 6)
            << workers << " workers, " << copies << " copies, " << count << " samples";
      }
    }
  }
}

TEST(Fine, DifferencesDoNotGrowWithSamplesAndLittleWithWorkers) {
#ifdef LOCKSTEP_SANITIZED
  constexpr std::size_t kCount = 2000;
#else
  constexpr std::size_t kCount = 50'000;
#endif
  for (const int copies : {2, 4, 6, 8, 10, 12, 14}) {
    EXPECT_LE(fine_spread(16, copies, kCount), 5) << copies;
  }
  EXPECT_LE(fine_spread(64, 4, 5000), 5);
  EXPECT_LE(fine_spread(32, 16, 2000), 10);
}

TEST(HouseholdShards, HouseholdsShareAShardOrNothingAndWorkersInsideNothing) {
  for (const int different : {1, 2, 4, 8}) {
    const auto assignment = made("household-shards", {{"shards", std::to_string(different)}});
    const Shards shards = assigned(*assignment, 960, {16, 8, 1});
    std::vector<std::set<SampleId>> household(8);
    for (std::size_t w = 0; w < 16; ++w) {
      household[w / 2].insert(shards.of[w].begin(), shards.of[w].end());
    }
    for (int a = 0; a < 16; a += 2) EXPECT_EQ(in_common(shards, a, a + 1), 0u);
    for (std::size_t a = 0; a < 8; ++a) {
      EXPECT_EQ(household[a].size(), 960u / static_cast<unsigned>(different));
      for (std::size_t b = 0; b < 8; ++b) {
        const bool same = static_cast<int>(a) % different == static_cast<int>(b) % different;
        EXPECT_EQ(household[a] == household[b], same);
      }
    }
  }
}

TEST(ByNeighbourhood, EachHasEverythingOnce) {
  const Shards shards =
      assigned(*made("by-neighbourhood", {{"neighbourhoods", "2"}}), 960, {16, 8, 1});
  for (int n = 0; n < 2; ++n) {
    std::set<SampleId> all;
    for (int a = n * 8; a < n * 8 + 8; ++a) {
      all.insert(shards.of[static_cast<std::size_t>(a)].begin(),
                 shards.of[static_cast<std::size_t>(a)].end());
      for (int b = n * 8; b < a; ++b) EXPECT_EQ(in_common(shards, a, b), 0u);
    }
    EXPECT_EQ(all.size(), 960u);
  }
}

}  // namespace
}  // namespace lockstep
