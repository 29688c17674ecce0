// Laws of messages between two ranks, on the world under test.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using Bytes = std::vector<std::byte>;

Bytes pattern(std::size_t n, int seed) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; ++i) {
    bytes[i] = static_cast<std::byte>((i * 31 + static_cast<std::size_t>(seed) * 17) % 251);
  }
  return bytes;
}

void send(Transport& transport, int to, Tag tag, const Bytes& data) {
  Request request = transport.isend(to, tag, data);
  transport.wait(request);
}

Bytes receive(Transport& transport, int from, Tag tag, std::size_t room, int* sender = nullptr) {
  Bytes buffer(room);
  Request request = transport.irecv(from, tag, buffer);
  transport.wait(request);
  buffer.resize(request.bytes());
  if (sender != nullptr) *sender = request.peer();
  return buffer;
}

// Around the sizes where a transport changes its way of sending.
const std::vector<std::size_t> kSizes{0, 1, 4095, 8192, 8193, 65536, 3'000'001};

TEST(PointToPoint, EverySizeArrivesWhole) {
  world_under_test()->run(2, [](Transport& transport) {
    for (const std::size_t n : kSizes) {
      if (transport.rank() == 0)
        send(transport, 1, 5, pattern(n, 1));
      else
        EXPECT_EQ(receive(transport, 0, 5, n + 10), pattern(n, 1)) << n;
    }
  });
}

TEST(PointToPoint, BothMaySendFirst) {
  world_under_test()->run(2, [](Transport& transport) {
    const int other = 1 - transport.rank();
    for (const std::size_t n : kSizes) {
      const Bytes mine = pattern(n, transport.rank());
      Request sending = transport.isend(other, 5, mine);
      EXPECT_EQ(receive(transport, other, 5, n), pattern(n, other));
      transport.wait(sending);
    }
  });
}

TEST(PointToPoint, MessagesOfOneTagKeepTheirOrderWhateverIsWaitedForFirst) {
  world_under_test()->run(2, [](Transport& transport) {
    constexpr int kCount = 20;
    if (transport.rank() == 0) {
      std::vector<Bytes> data;
      std::vector<Request> requests;
      for (int i = 0; i < kCount; ++i) data.push_back(pattern(10'000, i));
      for (int i = 0; i < kCount; ++i) {
        requests.push_back(transport.isend(1, 3, data[static_cast<std::size_t>(i)]));
      }
      for (auto& request : requests) transport.wait(request);
      return;
    }
    std::vector<Bytes> buffers(kCount, Bytes(10'000));
    std::vector<Request> requests;
    for (auto& buffer : buffers) requests.push_back(transport.irecv(0, 3, buffer));
    for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
      transport.wait(*request);
    }
    for (int i = 0; i < kCount; ++i) {
      EXPECT_EQ(buffers[static_cast<std::size_t>(i)], pattern(10'000, i));
    }
  });
}

TEST(PointToPoint, TagsAreChannelsOfTheirOwn) {
  world_under_test()->run(2, [](Transport& transport) {
    if (transport.rank() == 0) {
      const Bytes first = pattern(100, 1), second = pattern(20'000, 2);
      Request a = transport.isend(1, 1, first), b = transport.isend(1, kTagLimit - 1, second);
      transport.wait(a);
      transport.wait(b);
    } else {
      EXPECT_EQ(receive(transport, 0, kTagLimit - 1, 20'000), pattern(20'000, 2));
      EXPECT_EQ(receive(transport, 0, 1, 100), pattern(100, 1));
    }
  });
}

TEST(PointToPoint, ARankMaySendToItself) {
  world_under_test()->run(2, [](Transport& transport) {
    for (const std::size_t n : {std::size_t{0}, std::size_t{100}, std::size_t{100'000}}) {
      const Bytes data = pattern(n, transport.rank());
      Request sending = transport.isend(transport.rank(), 9, data);
      EXPECT_EQ(receive(transport, transport.rank(), 9, n), data);
      transport.wait(sending);
    }
  });
}

TEST(PointToPoint, AnyRankSaysWhoItWas) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test({2, 4, 7})) {
    world->run(ranks, [&](Transport& transport) {
      if (transport.rank() != 0) {
        for (int i = 0; i < 3; ++i) send(transport, 0, 2, pattern(9000, transport.rank() * 10 + i));
        return;
      }
      std::vector<int> heard(static_cast<std::size_t>(ranks), 0);
      for (int i = 0; i < 3 * (ranks - 1); ++i) {
        int sender = -1;
        const Bytes data = receive(transport, kAnyRank, 2, 9000, &sender);
        ASSERT_GT(sender, 0);
        EXPECT_EQ(data, pattern(9000, sender * 10 + heard[static_cast<std::size_t>(sender)]++));
      }
      for (int r = 1; r < ranks; ++r) EXPECT_EQ(heard[static_cast<std::size_t>(r)], 3);
    });
  }
}

TEST(PointToPoint, ReadShowsThePiecesInOrder) {
  world_under_test()->run(2, [](Transport& transport) {
    for (const std::size_t total : {1u, 1000u, 100'000u, 1'000'001u}) {
      for (const std::size_t piece :
           {std::size_t{1000}, std::size_t{65536}, std::size_t{2'000'000}}) {
        const Bytes data = pattern(total, 4);
        if (transport.rank() == 0) {
          std::vector<Request> requests;
          for (std::size_t at = 0; at < total; at += piece) {
            requests.push_back(
                transport.isend(1, 6, std::span(data).subspan(at, std::min(piece, total - at))));
          }
          for (auto& request : requests) transport.wait(request);
          continue;
        }
        Bytes read;
        transport.read(0, 6, total, piece,
                       [&](std::size_t offset, std::span<const std::byte> part) {
                         EXPECT_EQ(offset, read.size());
                         read.insert(read.end(), part.begin(), part.end());
                       });
        EXPECT_EQ(read, data);
      }
    }
  });
}

TEST(PointToPoint, TestNeverBlocksAndSeesTheEnd) {
  world_under_test()->run(2, [](Transport& transport) {
    Bytes buffer(100);
    if (transport.rank() == 0) {
      receive(transport, 1, 1, 0);  // rank 1 has looked and found nothing
      send(transport, 1, 2, pattern(100, 1));
      return;
    }
    Request request = transport.irecv(0, 2, buffer);
    EXPECT_FALSE(transport.test(request));
    send(transport, 0, 1, {});
    transport.wait(request);
    EXPECT_TRUE(transport.test(request));
    EXPECT_EQ(buffer, pattern(100, 1));
  });
}

TEST(PointToPoint, ACompanionTalksBesideItsRank) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test({2, 4})) {
    world->run(ranks, [&](Transport& transport) {
      // Each rank's companion answers one request from every rank, its own among them.
      Task companion = transport.spawn([&](Transport& beside) {
        EXPECT_EQ(beside.rank(), transport.rank());
        for (int i = 0; i < beside.size(); ++i) {
          int asker = -1;
          const Bytes question = receive(beside, kAnyRank, 20, 30'000, &asker);
          send(beside, asker, 21, question);
        }
      });
      for (int i = 0; i < ranks; ++i) {
        const int server = (transport.rank() + i) % ranks;
        const Bytes question = pattern(30'000, transport.rank() * ranks + server);
        send(transport, server, 20, question);
        EXPECT_EQ(receive(transport, server, 21, 30'000), question);
      }
      companion->join();
    });
  }
}

TEST(PointToPoint, TimeDoesNotRunBackwards) {
  world_under_test()->run(2, [](Transport& transport) {
    const double before = transport.now();
    if (transport.rank() == 0)
      send(transport, 1, 1, pattern(100'000, 1));
    else
      receive(transport, 0, 1, 100'000);
    EXPECT_GE(transport.now(), before);
  });
}

}  // namespace
}  // namespace lockstep
