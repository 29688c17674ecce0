#include "lockstep/collective/ring.h"

#include <gtest/gtest.h>

#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using Rows = std::vector<std::vector<float>>;

TEST(Ring, GoesThroughTheWorkedCase) {
  const Rows start{{17, 11, 1, 9}, {5, 13, 23, 14}, {3, 6, 10, 8}, {12, 7, 2, 12}};
  // Rank p finishes chunk p+1: D holds 17, A holds 13, B holds 23, C holds 14.
  const std::vector<float> owned{13, 23, 14, 17};
  world_with_room_for(4)->run(4, [&](Transport& transport) {
    Group group(transport);
    const auto p = static_cast<std::size_t>(transport.rank());
    std::vector<float> data = start[p];
    ring_share_reduce(group, data, {ReduceOp::kMax, 1});
    EXPECT_EQ(data[(p + 1) % 4], owned[p]);
    ring_share_only(group, data);
    EXPECT_EQ(data, (std::vector<float>{17, 13, 23, 14}));
  });
}

TEST(Ring, SendsTheSameHoweverManyRanksThereAre) {
  const auto ring = Registry<AllReduce>::instance().make("ring");
  for (const int ranks : {2, 4, 8, 64}) {
    const auto m = static_cast<std::size_t>(ranks);
    const Cost cost = ring->cost(ranks, 64'000);
    EXPECT_EQ(cost.bytes_most, 2 * 64'000 * (m - 1) / m * sizeof(float));
    EXPECT_EQ(cost.bytes_all, m * cost.bytes_most);
    EXPECT_EQ(cost.steps, 2 * (ranks - 1));
  }
}

}  // namespace
}  // namespace lockstep
