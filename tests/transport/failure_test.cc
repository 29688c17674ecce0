// No silent hangs: whatever goes wrong ends on every rank, with a report. On the world under test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "lockstep/base/error.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

using Bytes = std::vector<std::byte>;

void receive_from(Transport& transport, int from, std::size_t room = 8) {
  Bytes buffer(room);
  Request request = transport.irecv(from, 1, buffer);
  transport.wait(request);
}

void send_to(Transport& transport, int to, std::size_t bytes = 8) {
  const Bytes data(bytes);
  Request request = transport.isend(to, 1, data);
  transport.wait(request);
}

// What the world says when `body` fails on it.
template <typename Failure>
std::string failure_of(int ranks, double timeout, const RankBody& body) {
  const auto world = world_under_test(timeout);
  try {
    world->run(ranks, body);
  } catch (const Failure& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "no error";
}

TEST(Failure, ATimeOutSaysWhoWaitsForWhomInWhat) {
  const std::string report = failure_of<CommError>(2, 1, [](Transport& transport) {
    {
      const Operation operation(transport, "warm-up");
      if (transport.rank() == 0)
        send_to(transport, 1);
      else
        receive_from(transport, 0);
    }
    const Operation operation(transport, "exchange of nothing");
    transport.step("turn", 1, 4);
    receive_from(transport, 1 - transport.rank());
  });
  EXPECT_THAT(report, HasSubstr("for rank"));
  EXPECT_THAT(report, HasSubstr("exchange of nothing, turn step 2 of 4"));
  EXPECT_THAT(report, HasSubstr("timeout = 1 s"));
  EXPECT_THAT(report, HasSubstr("rank 0: waiting"));
  EXPECT_THAT(report, HasSubstr("rank 1: waiting"));
  EXPECT_THAT(report, HasSubstr("last completed: warm-up (number 1)"));
}

TEST(Failure, ARankThatEndedEarlyIsNamed) {
  const std::string report = failure_of<CommError>(2, 1, [](Transport& transport) {
    if (transport.rank() == 0) receive_from(transport, 1);
  });
  EXPECT_THAT(report, HasSubstr("rank 0 waited"));
  EXPECT_THAT(report, HasSubstr("rank 1: finished"));
}

TEST(Failure, AnExceptionEndsTheOthersAndIsNamed) {
  const std::string report = failure_of<CommError>(2, 60, [](Transport& transport) {
    if (transport.rank() == 1) throw std::runtime_error("out of coffee");
    receive_from(transport, 1);
  });
  EXPECT_THAT(report, HasSubstr("rank 1 failed: out of coffee"));
  EXPECT_THAT(report, HasSubstr("rank 1: died"));
}

TEST(Failure, AnErrorOfTheUserKeepsItsKindOnItsRank) {
  // Between processes the other ranks see a CommError that quotes it.
  const auto world = world_under_test();
  std::string text;
  try {
    world->run(2, [](Transport& transport) {
      if (transport.rank() == 0) throw ConfigError("no such thing");
      receive_from(transport, 0);
    });
  } catch (const Error& e) {
    text = e.what();
  }
  EXPECT_THAT(text, HasSubstr("no such thing"));
}

TEST(Failure, ASendNobodyReadsTimesOut) {
  const std::string report = failure_of<CommError>(2, 1, [](Transport& transport) {
    // Too large for any transport to take in advance; rank 1 ends without reading it.
    if (transport.rank() == 0) send_to(transport, 1, std::size_t{64} << 20);
  });
  EXPECT_THAT(report, HasSubstr("waited"));
  EXPECT_THAT(report, HasSubstr("(send)"));
}

TEST(Failure, AMessageTooLongForItsBufferIsAnError) {
  const std::string report = failure_of<CommError>(2, 5, [](Transport& transport) {
    if (transport.rank() == 0)
      send_to(transport, 1, 20'000);
    else
      receive_from(transport, 0, 100);
    // Nobody leaves before the other has seen it.
    receive_from(transport, 1 - transport.rank());
  });
  EXPECT_THAT(report, HasSubstr("rank 1"));
  EXPECT_THAT(report, HasSubstr("100"));
  EXPECT_THAT(report, HasSubstr("disagree about its size"));
}

TEST(Failure, AskingForEverIsWaitingToo) {
  const std::string report = failure_of<CommError>(2, 0.2, [](Transport& transport) {
    if (transport.rank() == 1) return;
    Bytes buffer(8);
    Request request = transport.irecv(1, 1, buffer);
    while (!transport.test(request)) {
    }
  });
  EXPECT_THAT(report, HasSubstr("rank 0 waited"));
  EXPECT_THAT(report, HasSubstr("for rank 1 ("));
}

// The error that a rank itself ended with is what the user sees, not that its companion ended too.
TEST(Failure, ACommErrorBesideACompanionKeepsItsWords) {
  const std::string report = failure_of<CommError>(2, 60, [](Transport& transport) {
    Task companion = transport.spawn([](Transport& beside) { receive_from(beside, kAnyRank); });
    if (transport.rank() == 0) throw CommError("three bytes too few");
    receive_from(transport, 0);
  });
  EXPECT_THAT(report, HasSubstr("three bytes too few"));
}

TEST(Failure, ACompanionWaitsForItsOwnRankBeyondTheTimeOut) {
  constexpr double kTimeout = 0.05;
  world_under_test(kTimeout)->run(1, [](Transport& transport) {
    Task companion = transport.spawn([](Transport& beside) { receive_from(beside, 0); });
    const double began = transport.now();
    transport.charge(3 * kTimeout);
    while (transport.now() < began + 2 * kTimeout) {
    }
    send_to(transport, 0);
    companion->join();
  });
}

// What holds a companion up is its own matter, and it notices itself.
TEST(Failure, ARankWaitsForItsCompanionAtWorkBeyondTheTimeOut) {
  constexpr double kTimeout = 0.05;
  world_under_test(kTimeout)->run(1, [](Transport& transport) {
    Task companion = transport.spawn([](Transport& beside) {
      const auto work = [&] {
        const double began = beside.now();
        beside.charge(4 * kTimeout);
        while (beside.now() < began + 3 * kTimeout) {
        }
      };
      {
        const Operation operation(beside, "long work");
        work();
      }
      work();  // within no operation
      send_to(beside, 0);
    });
    receive_from(transport, 0);
    companion->join();
  });
}

TEST(Failure, AFailingCompanionEndsTheRun) {
  const std::string report = failure_of<CommError>(2, 60, [](Transport& transport) {
    Task companion = transport.spawn([](Transport& beside) {
      if (beside.rank() == 1) throw std::runtime_error("the shard is on fire");
    });
    receive_from(transport, 1 - transport.rank());
    companion->join();
  });
  EXPECT_THAT(report, HasSubstr("the shard is on fire"));
}

TEST(Failure, AFailingRankTakesItsWaitingCompanionAlong) {
  const std::string report = failure_of<CommError>(2, 60, [](Transport& transport) {
    Task companion = transport.spawn([](Transport& beside) { receive_from(beside, kAnyRank); });
    if (transport.rank() == 0) throw std::runtime_error("the rank itself");
    receive_from(transport, 0);
  });
  EXPECT_THAT(report, HasSubstr("the rank itself"));
}

TEST(Failure, TheNextRunInTheSameProcessWorks) {
  failure_of<CommError>(2, 60, [](Transport& transport) {
    if (transport.rank() == 0) throw std::runtime_error("first run");
    receive_from(transport, 0);
  });
  world_under_test()->run(2, [](Transport& transport) {
    if (transport.rank() == 0)
      send_to(transport, 1);
    else
      receive_from(transport, 0);
  });
}

TEST(Failure, NumbersOfRanksThatMakeNoSenseAreRefused) {
  const auto world = world_under_test();
  EXPECT_THROW(world->run(0, [](Transport&) {}), ConfigError);
  EXPECT_THROW(world->run(-3, [](Transport&) {}), ConfigError);
  EXPECT_THROW(world->run(world->most_ranks() + 1, [](Transport&) {}), ConfigError);
}

}  // namespace
}  // namespace lockstep
