// Shards and their clients together, on every world: shards beside the workers and on ranks of
// their own, and what they say to messages that make no sense.
#include "lockstep/server/shard_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/server/server_client.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kAdd = kFirstOwn;
constexpr std::uint32_t kCount = kAdd + 1;  // answered without values
constexpr std::size_t kHeaderBytes = 128;

// Adds what it is sent to its slice and answers with the sum so far.
class AddingRule : public ShardRule {
 public:
  explicit AddingRule(std::size_t size) : sum_(size) {}
  void handle(const ServerHeader& header, std::span<const float> values,
              const Answer& answer) override {
    if (header.kind != kAdd && header.kind != kCount) throw cannot_answer(header);
    for (std::size_t i = 0; i < values.size(); ++i) sum_[i] += values[i];
    answer(header.worker, {.kind = header.kind, .clock = header.clock + 1},
           std::span(sum_).first(header.kind == kAdd ? sum_.size() : 0));
  }
  void state(StateVisitor& visitor) override { visitor.floats("sum", sum_); }

 private:
  std::vector<float> sum_;
};

ShardMap map_of(std::size_t size, int shards) {
  const std::vector<Layer> layers{{"all", 0, size, {static_cast<std::int64_t>(size)}}};
  return ShardMap(layers, shards, false);
}

struct Shape {
  int workers, servers;  // servers 0: a shard beside each worker
  int ranks() const { return workers + servers; }
  int shards() const { return servers > 0 ? servers : workers; }
  int first() const { return servers > 0 ? workers : 0; }  // rank with a shard
};

using Client = std::function<void(ServerClient&, Group& workers)>;

// One rank's part: serves, trains, or both. `size` of the vector as the shards take it to be.
void take_part(Transport& transport, Shape shape, std::size_t size, const ShardMap& client_map,
               const Client& client) {
  const int rank = transport.rank();
  std::unique_ptr<ShardServer> server;
  if (rank >= shape.first()) {
    const std::size_t own = map_of(size, shape.shards()).range(rank - shape.first()).size;
    server = std::make_unique<ShardServer>(std::make_unique<AddingRule>(own), own, shape.workers,
                                           Arrivals());
  }
  if (rank >= shape.workers) return server->serve(transport);
  Task companion;
  if (server) companion = transport.spawn([&](Transport& beside) { server->serve(beside); });
  std::vector<int> workers(static_cast<std::size_t>(shape.workers));
  std::iota(workers.begin(), workers.end(), 0);
  std::vector<int> ranks(static_cast<std::size_t>(shape.shards()));
  std::iota(ranks.begin(), ranks.end(), shape.first());
  Group group(transport, workers);
  ServerClient door(transport, client_map, ranks);
  client(door, group);
  door.leave();
  if (companion) companion->join();
}

std::vector<Shape> shapes_under_test() {
  std::vector<Shape> shapes{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {1, 1}, {2, 1}, {2, 2}, {3, 1}, {1, 3}};
  const int most = world_under_test()->most_ranks();
  std::erase_if(shapes, [&](const Shape& shape) { return shape.ranks() > most; });
  return shapes;
}

TEST(ShardServer, EverySliceReachesItsShardAndComesBack) {
  for (const Shape shape : shapes_under_test()) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{37}, std::size_t{1000}}) {
      const ShardMap map = map_of(size, shape.shards());
      world_under_test()->run(shape.ranks(), [&](Transport& transport) {
        take_part(transport, shape, size, map, [&](ServerClient& door, Group& workers) {
          std::vector<float> mine(size), sum(size);
          for (std::size_t i = 0; i < size; ++i) {
            mine[i] = static_cast<float>((i + 1) * static_cast<std::size_t>(workers.index() + 1));
          }
          constexpr int kRounds = 3;
          for (int round = 0; round < kRounds; ++round) {
            for (const auto& header : door.ask({.kind = kAdd, .clock = round}, mine, sum)) {
              EXPECT_EQ(header.clock, round + 1);
              EXPECT_EQ(header.worker, workers.index());
            }
          }
          const auto all_sent =
              static_cast<std::uint64_t>(shape.shards()) * kHeaderBytes + size * sizeof(float);
          EXPECT_EQ(door.traffic().sent, kRounds * all_sent);
          EXPECT_EQ(door.traffic().received, kRounds * all_sent);
          EXPECT_EQ(door.traffic().rounds, static_cast<std::uint64_t>(kRounds));
          barrier(workers);
          door.ask({.kind = kAdd}, {}, sum);
          const int of_workers = kRounds * shape.workers * (shape.workers + 1) / 2;
          for (std::size_t i = 0; i < size; ++i) {
            EXPECT_EQ(sum[i], static_cast<float>(of_workers) * static_cast<float>(i + 1)) << i;
          }
          EXPECT_EQ(door.ask_one(0, {.kind = kCount, .clock = 8}).clock, 9);
        });
      });
    }
  }
}

TEST(ShardServer, RestsWhenAllHaveLeftAndGoesOnAfterwards) {
  const Shape shape = shapes_under_test().back();
  const std::size_t size = 37;
  world_under_test()->run(shape.ranks(), [&](Transport& transport) {
    if (transport.rank() >= shape.workers) {
      const std::size_t own =
          map_of(size, shape.shards()).range(transport.rank() - shape.first()).size;
      ShardServer server(std::make_unique<AddingRule>(own), own, shape.workers, Arrivals());
      for (int stretch = 0; stretch < 2; ++stretch) {
        server.serve(transport);
        EXPECT_EQ(server.arrivals().take_noted(), std::vector<int>({0, 0}));
      }
      return;
    }
    std::vector<int> ranks(static_cast<std::size_t>(shape.shards()));
    std::iota(ranks.begin(), ranks.end(), shape.first());
    ServerClient door(transport, map_of(size, shape.shards()), ranks);
    std::vector<float> ones(size, 1), sum(size);
    for (int stretch = 0; stretch < 2; ++stretch) {
      for (int i = 0; i < 2; ++i) door.ask({.kind = kAdd}, ones, sum);
      door.leave();
    }
    EXPECT_EQ(sum, std::vector<float>(size, 4));
  });
}

// What a world of two ranks, or all that mpirun started, says when a worker does this to a server
// on rank 1. Other ranks take no part.
std::string complaint(const std::function<void(Transport&)>& worker, std::size_t size = 40) {
  const auto world = world_under_test();
  const int ranks = world_under_test_name() == "mpi" ? world->most_ranks() : 2;
  try {
    world->run(ranks, [&](Transport& transport) {
      if (transport.rank() == 0) worker(transport);
      if (transport.rank() != 1) return;
      ShardServer(std::make_unique<AddingRule>(size), size, 1, Arrivals()).serve(transport);
    });
  } catch (const CommError& error) {
    return error.what();
  }
  return "no error";
}

void ask(Transport& transport, std::size_t size, const ServerHeader& header) {
  ServerClient door(transport, map_of(size, 1), {1});
  std::vector<float> values(size);
  door.ask(header, values, values);
}

TEST(ShardServer, SaysWhatIsWrongWithAMessage) {
  EXPECT_THAT(complaint([](Transport& t) { ask(t, 39, {.kind = kAdd}); }),
              HasSubstr("worker 0 sent 39 values to a shard of 40"));
  EXPECT_THAT(complaint([](Transport& t) { ask(t, 40, {.kind = kAdd + 9}); }),
              HasSubstr("worker 0 asked the server for something it does not do"));
  const auto send = [](Transport& transport, const ServerHeader& header, std::size_t cut) {
    ServerMessage message(40);
    const auto bytes = message.write(header, std::vector<float>(40));
    Request request = transport.isend(1, kServerTag, bytes.first(bytes.size() - cut));
    transport.wait(request);
    ServerMessage answer(40);  // which does not come
    Request waiting = transport.irecv(1, kServerTag + 1, answer.room());
    transport.wait(waiting);
  };
  EXPECT_THAT(complaint([&](Transport& t) { send(t, {.kind = kAdd, .worker = 1}, 0); }),
              HasSubstr("rank 0 sent the server a message of worker 1"));
  EXPECT_THAT(complaint([&](Transport& t) { send(t, {.kind = kAdd, .worker = -1}, 0); }),
              HasSubstr("rank 0 sent the server a message of worker -1"));
  EXPECT_THAT(complaint([&](Transport& t) { send(t, {.kind = kAdd}, 1); }),
              HasSubstr("does not have the length it says"));
}

TEST(ServerClient, SaysWhatIsWrongWithAnAnswer) {
  EXPECT_THAT(complaint([](Transport& transport) {
                ServerClient door(transport, map_of(41, 1), {1});
                std::vector<float> sum(41);
                door.ask({.kind = kAdd}, {}, sum);
              }),
              HasSubstr("shard 0 answered with 40 values instead of 41"));
  EXPECT_THAT(complaint([](Transport& transport) {
                ServerClient(transport, map_of(40, 1), {1}).ask_one(0, {.kind = kAdd});
              }),
              HasSubstr("shard 0 answered with 40 values instead of 0"));
}

}  // namespace
}  // namespace lockstep
