// A failure ends the run on every process, whatever host it is on, and the next run works.
#include <gmock/gmock.h>

#include <array>

#include "lockstep/base/error.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

constexpr double kTimeout = 1;

std::string error_of(World& world, int ranks, const RankBody& body) {
  try {
    world.run(ranks, body);
  } catch (const CommError& error) {
    return error.what();
  }
  return "no error";
}

void receive(Transport& transport, int from, Tag tag) {
  std::array<std::byte, 8> buffer{};
  auto request = transport.irecv(from, tag, buffer);
  transport.wait(request);
}
void send(Transport& transport, int to, Tag tag) {
  const std::array<std::byte, 8> buffer{};
  auto request = transport.isend(to, tag, buffer);
  transport.wait(request);
}

// All ranks are in the body when each has heard of the next.
void ring(Transport& transport) {
  const Operation operation(transport, "ring");
  const int size = transport.size();
  send(transport, (transport.rank() + 1) % size, 1);
  receive(transport, (transport.rank() + size - 1) % size, 1);
}

TEST(MpiFailure, TimeOutTellsAllRanksOfAllHosts) {
  const auto world = world_under_test(kTimeout);
  const std::string error = error_of(*world, 4, [](Transport& transport) {
    ring(transport);
    const Operation operation(transport, "silence");
    if (transport.rank() < 3) receive(transport, transport.rank() + 1, 2);
  });
  EXPECT_THAT(error, HasSubstr("the limit is timeout = 1 s"));
  for (const char* const part :
       {"for rank 1 (receive) in silence; last completed: ring (number 1)",
        "for rank 2 (receive) in silence; last completed: ring (number 1)",
        "for rank 3 (receive) in silence; last completed: ring (number 1)", "rank 3: finished"}) {
    EXPECT_THAT(error, HasSubstr(part));
  }
}

TEST(MpiFailure, ExceptionReachesAllRanksOfAllHosts) {
  const auto world = world_under_test();
  const std::string error = error_of(*world, 4, [](Transport& transport) {
    ring(transport);
    if (transport.rank() == 3) throw std::runtime_error("broken on purpose");
    const Operation operation(transport, "silence");
    receive(transport, 3, 2);
  });
  EXPECT_THAT(error, HasSubstr("rank 3 failed: broken on purpose"));
  EXPECT_THAT(error, HasSubstr("rank 3: died: broken on purpose; last completed: ring"));
}

TEST(MpiFailure, ProcessesBeyondTheRanksHearOfIt) {
  const auto world = world_under_test();
  const std::string error = error_of(*world, 2, [](Transport& transport) {
    if (transport.rank() == 1) throw std::runtime_error("broken on purpose");
    receive(transport, 1, 2);
  });
  EXPECT_THAT(error, HasSubstr("rank 1 failed: broken on purpose"));
}

TEST(MpiFailure, ConfigErrorStaysWhatItIsWhereItWasThrown) {
  const auto world = world_under_test();
  bool config = false, comm = false;
  int rank = -1;
  try {
    world->run(4, [&](Transport& transport) {
      rank = transport.rank();
      ring(transport);
      if (rank == 0) throw ConfigError("no such thing");
      receive(transport, 0, 2);
    });
  } catch (const ConfigError& error) {
    config = true;
    EXPECT_STREQ(error.what(), "no such thing");
  } catch (const CommError& error) {
    comm = true;
    EXPECT_THAT(error.what(), HasSubstr("no such thing"));
  }
  EXPECT_EQ(config, rank == 0);
  EXPECT_EQ(comm, rank != 0);
}

TEST(MpiFailure, BodysErrorCountsThoughACompanionWaits) {
  const auto world = world_under_test();
  const std::string error = error_of(*world, 4, [](Transport& transport) {
    ring(transport);
    const auto companion = transport.spawn([](Transport& own) { receive(own, kAnyRank, 9); });
    if (transport.rank() == 2) throw std::runtime_error("broken on purpose");
    receive(transport, 2, 2);
  });
  EXPECT_THAT(error, HasSubstr("rank 2 failed: broken on purpose"));
}

TEST(MpiFailure, CompanionsErrorEndsTheRun) {
  const auto world = world_under_test();
  const std::string error = error_of(*world, 4, [](Transport& transport) {
    ring(transport);
    const auto companion = transport.spawn([](Transport& own) {
      if (own.rank() == 1) throw std::runtime_error("broken on purpose");
    });
    receive(transport, 1, 2);
  });
  EXPECT_THAT(error, HasSubstr("rank 1 failed: broken on purpose"));
}

TEST(MpiFailure, RankThatDoesNotComeForSharedMemoryIsNamed) {
  const auto world = world_under_test(kTimeout);
  // From the environment as the world sees it, also in processes that run no rank.
  bool one_host = true;
  world->run(
      4, [&](Transport& transport) { one_host = transport.host_of(0) == transport.host_of(1); });
  const auto body = [&](Transport& transport) {
    const std::array both{0, 1};
    if (transport.rank() == 0) {
      const auto space = transport.shared_space(both);
      EXPECT_EQ(space, nullptr);  // reached on different hosts only, where nobody is waited for
    }
  };
  const std::string error = error_of(*world, 2, body);
  if (!one_host) {
    EXPECT_EQ(error, "no error");
  } else {
    EXPECT_THAT(error, testing::AnyOf(HasSubstr("for rank 1 (receive)"), HasSubstr("(send)")));
  }
}

TEST(MpiFailure, MessageLongerThanTheBufferNamesRanksAndSizes) {
  const auto world = world_under_test();
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{1} << 20}) {
    const std::string error = error_of(*world, 4, [&](Transport& transport) {
      const std::vector<std::byte> large(bytes);
      if (transport.rank() == 3) {
        auto request = transport.isend(0, 1, large);
        transport.wait(request);
      }
      if (transport.rank() == 0) receive(transport, 3, 1);
    });
    EXPECT_THAT(
        error, HasSubstr(fmt::format("rank 0 got {} bytes from rank 3 but has room for 8", bytes)));
  }
}

TEST(MpiFailure, LaterRunsOfAnySizeWork) {
  const auto world = world_under_test();
  for (const int ranks : {1, 2, 3, 4, 2}) {
    int ran = 0;
    world->run(ranks, [&](Transport& transport) {
      ring(transport);
      ++ran;
    });
    EXPECT_LE(ran, 1);
  }
}

TEST(MpiFailure, MoreRanksThanProcessesIsAConfigError) {
  const auto world = world_under_test();
  EXPECT_THROW(world->run(5, [](Transport&) {}), ConfigError);
}

}  // namespace
}  // namespace lockstep
