// Shared memory between processes, and who is on which host.
#include <gmock/gmock.h>

#include <cstdlib>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/transport/mpi_native.h"
#include "lockstep/transport/mpi_window.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

int ranks_per_host() {
  return std::atoi(std::getenv("LOCKSTEP_RANKS_PER_HOST"));
}

std::vector<int> ranks_of_host(const Transport& transport) {
  std::vector<int> ranks;
  for (int rank = 0; rank < transport.size(); ++rank) {
    if (transport.host_of(rank) == transport.host_of(transport.rank())) ranks.push_back(rank);
  }
  return ranks;
}

TEST(MpiWindow, OpensAtItsAddressAndIsZero) {
  const auto made = MpiWindow::create(5000);
  EXPECT_EQ(made->bytes() % 4096, 0u);
  const auto seen = MpiWindow::open(made->address());
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->data()[4999], std::byte{0});
  made->data()[4999] = std::byte{7};
  EXPECT_EQ(seen->data()[4999], std::byte{7});
}

TEST(MpiWindow, DoesNotOpenWhatIsNoWindow) {
  auto address = MpiWindow::create(64)->address();  // gone at once
  EXPECT_FALSE(MpiWindow::open(address));
  address.descriptor = 0;
  EXPECT_FALSE(MpiWindow::open(address));
}

TEST(MpiHosts, PretendHostsHaveSoManyRanksEach) {
  const auto world = world_under_test();
  world->run(world->most_ranks(), [&](Transport& transport) {
    for (int rank = 0; rank < transport.size(); ++rank) {
      EXPECT_EQ(transport.host_of(rank), rank / ranks_per_host());
    }
  });
}

TEST(MpiSpace, RanksOfAHostSeeEachOthersWindows) {
  const auto world = world_under_test();
  world->run(world->most_ranks(), [&](Transport& transport) {
    const auto ranks = ranks_of_host(transport);
    const auto space = transport.shared_space(ranks);
    ASSERT_TRUE(space);
    EXPECT_FALSE(space->direct());
    EXPECT_EQ(space->size(), static_cast<int>(ranks.size()));
    EXPECT_EQ(ranks[static_cast<std::size_t>(space->index())], transport.rank());
    for (int round = 1; round <= 100; ++round) {
      const auto mine = space->window(space->index());
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mine.data()) % 4096, 0u);
      mine.front() = mine.back() = static_cast<std::byte>(round + transport.rank());
      space->meet({nullptr, mine.size(), 1});
      for (int i = 0; i < space->size(); ++i) {
        const auto expected = static_cast<std::byte>(round + ranks[static_cast<std::size_t>(i)]);
        EXPECT_EQ(space->window(i).front(), expected);
        EXPECT_EQ(space->window(i).back(), expected);
      }
      space->meet({nullptr, 0, 2});
    }
  });
}

TEST(MpiSpace, RanksOfSeveralHostsHaveNone) {
  const auto world = world_under_test();
  world->run(world->most_ranks(), [&](Transport& transport) {
    std::vector<int> all(static_cast<std::size_t>(transport.size()));
    std::iota(all.begin(), all.end(), 0);
    const bool one_host = ranks_of_host(transport).size() == all.size();
    EXPECT_EQ(transport.shared_space(all) != nullptr, one_host);
  });
}

TEST(MpiSpace, SeveralAtATimeAndAgain) {
  const auto world = world_under_test();
  for (int again = 0; again < 3; ++again) {
    world->run(2, [&](Transport& transport) {
      const auto ranks = ranks_of_host(transport);
      const std::vector<int> alone{transport.rank()};
      const auto first = transport.shared_space(ranks);
      const auto second = transport.shared_space(ranks);
      const auto own = transport.shared_space(alone);
      ASSERT_TRUE(first && second && own);
      first->window(first->index())[0] = std::byte{1};
      second->window(second->index())[0] = std::byte{2};
      own->meet({nullptr, 0, 3});
      first->meet({nullptr, 0, 1});
      second->meet({nullptr, 0, 2});
      for (int i = 0; i < first->size(); ++i) {
        EXPECT_EQ(first->window(i)[0], std::byte{1});
        EXPECT_EQ(second->window(i)[0], std::byte{2});
      }
    });
  }
}

TEST(MpiNative, AllReduceOfTheLibrary) {
  const auto world = world_under_test();
  world->run(3, [&](Transport& transport) {
    std::vector<float> values(5, static_cast<float>(transport.rank() + 1));
    ASSERT_TRUE(mpi_allreduce(transport, values, MpiNativeOp::kSum));
    EXPECT_THAT(values, testing::Each(6.0f));
    values.assign(5, static_cast<float>(transport.rank() + 1));
    ASSERT_TRUE(mpi_allreduce(transport, values, MpiNativeOp::kMax));
    EXPECT_THAT(values, testing::Each(3.0f));
  });
}

}  // namespace
}  // namespace lockstep
