#include "lockstep/transport/sub_transport.h"

#include <gtest/gtest.h>

#include <cstring>

#include "lockstep/transport/shared_space.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

constexpr Tag kTag = 7;

// Four ranks as two worlds of two.
template <typename Body>
void run_in_halves(const Body& body) {
  for (const int count : ranks_under_test({4})) {
    world_under_test()->run(count, [&](Transport& whole) {
      SubTransport half(whole, whole.rank() / 2 * 2, 2);
      body(whole, half);
    });
  }
}

int exchanged(Transport& transport, int from, int mine, int& sender) {
  int theirs = -1;
  Request arrives = transport.irecv(from, kTag, std::as_writable_bytes(std::span(&theirs, 1)));
  Request leaves = transport.isend(1 - transport.rank(), kTag, std::as_bytes(std::span(&mine, 1)));
  transport.wait(arrives);
  transport.wait(leaves);
  sender = arrives.peer();
  return theirs;
}

TEST(SubTransport, MessagesStayAmongItsRanks) {
  run_in_halves([](Transport& whole, Transport& half) {
    EXPECT_EQ(half.size(), 2);
    EXPECT_EQ(half.rank(), whole.rank() % 2);
    const int other = half.rank() == 0 ? whole.rank() + 1 : whole.rank() - 1;
    for (const int from : {1 - half.rank(), kAnyRank}) {
      int sender = -1;
      EXPECT_EQ(exchanged(half, from, whole.rank(), sender), other);
      EXPECT_EQ(sender, 1 - half.rank());  // as this world counts
    }
    EXPECT_EQ(half.host_of(0), whole.host_of(whole.rank() / 2 * 2));
  });
}

TEST(SubTransport, AskingDoesNotCountTwice) {
  run_in_halves([](Transport&, Transport& half) {
    int value = -1, mine = half.rank();
    Request arrives = half.irecv(kAnyRank, kTag, std::as_writable_bytes(std::span(&value, 1)));
    Request leaves = half.isend(1 - half.rank(), kTag, std::as_bytes(std::span(&mine, 1)));
    half.wait(leaves);
    half.wait(arrives);
    EXPECT_TRUE(half.test(arrives));
    half.wait(arrives);
    EXPECT_EQ(arrives.peer(), 1 - half.rank());
    EXPECT_EQ(value, 1 - half.rank());
  });
}

TEST(SubTransport, CompanionsSeeTheSameRanks) {
  run_in_halves([](Transport& whole, Transport& half) {
    int seen = -1;
    const int other = half.rank() == 0 ? whole.rank() + 1 : whole.rank() - 1;
    const int mine = whole.rank();
    Task task = half.spawn([&](Transport& beside) {
      EXPECT_EQ(beside.rank(), half.rank());
      int sender = -1;
      seen = exchanged(beside, kAnyRank, mine, sender);
    });
    task->join();
    EXPECT_EQ(seen, other);
  });
}

TEST(SubTransport, MeetsOnlyItsOwnInSharedMemory) {
  run_in_halves([](Transport&, Transport& half) {
    const std::vector<int> both{0, 1};
    const auto space = half.shared_space(both);
    if (!space) return;  // this world has none, or they are on two hosts
    space->meet({nullptr, 0, 3});
    EXPECT_EQ(space->size(), 2);
    EXPECT_EQ(space->index(), half.rank());
  });
}

}  // namespace
}  // namespace lockstep
