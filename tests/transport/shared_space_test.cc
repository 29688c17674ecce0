// Meetings in shared memory, on worlds that have any.
#include "lockstep/transport/shared_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "lockstep/base/error.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

std::vector<int> everybody(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(SharedSpace, AMeetingEndsWhenAllHaveComeAndShowsTheirCards) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test({2, 3, 4, 16})) {
    world->run(ranks, [&](Transport& transport) {
      const auto space = transport.shared_space(everybody(ranks));
      // Simulated hosts share nothing, and neither do different ones.
      bool one_host = !world->simulated();
      for (int r = 0; r < ranks; ++r) {
        one_host = one_host && transport.host_of(r) == transport.host_of(0);
      }
      EXPECT_EQ(space != nullptr, one_host);
      if (!space) return;
      EXPECT_EQ(space->size(), ranks);
      EXPECT_EQ(space->index(), transport.rank());
      for (std::size_t round = 0; round < 300; ++round) {
        // An address is just a number here: rank and round.
        const auto name = [&](int rank) {
          return reinterpret_cast<void*>(round * 100 + static_cast<std::size_t>(rank));
        };
        space->meet({name(transport.rank()), 8, round});
        for (int i = 0; i < ranks; ++i) ASSERT_EQ(space->card(i).data, name(i));
      }
    });
  }
}

TEST(SharedSpace, MembersThatComeForDifferentThingsAreTold) {
  const auto world = world_under_test();
  if (world->simulated()) {
    world->run(
        2, [](Transport& transport) { EXPECT_EQ(transport.shared_space(everybody(2)), nullptr); });
    return;
  }
  try {
    world->run(2, [](Transport& transport) {
      const auto space = transport.shared_space(everybody(2));
      space->meet({nullptr, transport.rank() == 0 ? 8u : 12u, 1});
    });
    FAIL() << "no error";
  } catch (const CommError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("not in the same operation"));
  }
}

}  // namespace
}  // namespace lockstep
