// Laws of the building blocks, on the world under test, for every root and on parts of the world.
#include "lockstep/collective/collectives.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/world_under_test.h"

namespace lockstep {
namespace {

const std::vector<int> kRanks{1, 2, 3, 4, 7, 8};
const std::vector<std::size_t> kLengths{0, 1, 5, 1000, 300'001};

float value(int rank, std::size_t i) {
  return static_cast<float>(rank * 1000) + static_cast<float>(i % 97);
}
std::vector<float> vector_of(int rank, std::size_t n) {
  std::vector<float> data(n);
  for (std::size_t i = 0; i < n; ++i) data[i] = value(rank, i);
  return data;
}

// Calls body(group) on the whole world and then on its odd and even ranks.
template <typename Body>
void on_world_and_parts(Body body) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test(kRanks)) {
    world->run(ranks, [&](Transport& transport) {
      Group everybody(transport);
      body(everybody);
      std::vector<int> members;
      for (int r = transport.rank() % 2; r < ranks; r += 2) members.push_back(r);
      body(everybody.part(members));
    });
  }
}

TEST(Broadcast, GivesEverybodyTheRootsData) {
  on_world_and_parts([](Group& group) {
    for (int root = 0; root < group.size(); ++root) {
      for (const std::size_t n : kLengths) {
        auto data = vector_of(group.rank(group.index()), n);
        broadcast(group, data, root);
        ASSERT_EQ(data, vector_of(group.rank(root), n));
      }
    }
  });
}

TEST(Reduce, GivesTheRootTheReduction) {
  on_world_and_parts([](Group& group) {
    for (int root = 0; root < group.size(); ++root) {
      for (const std::size_t n : kLengths) {
        auto data = vector_of(group.rank(group.index()), n);
        reduce(group, data, ReduceOp::kMean, root);
        if (group.index() != root) continue;
        for (std::size_t i = 0; i < n; ++i) {
          float sum = 0;
          for (int m = 0; m < group.size(); ++m) sum += value(group.rank(m), i);  // whole numbers
          ASSERT_EQ(data[i], sum / static_cast<float>(group.size()));
        }
      }
    }
  });
}

TEST(ReduceScatter, GivesEachMemberTheChunkOfItsNumber) {
  on_world_and_parts([](Group& group) {
    for (const std::size_t n : kLengths) {
      auto data = vector_of(group.rank(group.index()), n);
      const Range own = reduce_scatter(group, data, ReduceOp::kSum);
      ASSERT_EQ(own, chunk(n, group.size(), group.index()));
      for (std::size_t i = own.begin; i < own.end(); ++i) {
        float sum = 0;
        for (int m = 0; m < group.size(); ++m) sum += value(group.rank(m), i);
        ASSERT_EQ(data[i], sum);
      }
    }
  });
}

TEST(Gather, PutsTheVectorsBehindEachOther) {
  on_world_and_parts([](Group& group) {
    for (const std::size_t n : kLengths) {
      const auto mine = vector_of(group.rank(group.index()), n);
      std::vector<float> expected;
      for (int m = 0; m < group.size(); ++m) {
        const auto theirs = vector_of(group.rank(m), n);
        expected.insert(expected.end(), theirs.begin(), theirs.end());
      }
      std::vector<float> all(n * static_cast<std::size_t>(group.size()), -1);
      all_gather(group, mine, all);
      ASSERT_EQ(all, expected);
      for (int root = 0; root < group.size(); ++root) {
        std::vector<float> at_root(all.size(), -1);
        gather(group, mine, at_root, root);
        ASSERT_EQ(at_root, group.index() == root ? expected : std::vector<float>(all.size(), -1));
      }
    }
  });
}

TEST(AllGather, TakesVectorsOfAnyLength) {
  on_world_and_parts([](Group& group) {
    // Member 0 brings nothing, the last one much.
    const auto length = [](int m) { return static_cast<std::size_t>(m * m) * 20'000; };
    const auto all =
        all_gather_varied(group, vector_of(group.rank(group.index()), length(group.index())));
    ASSERT_EQ(all.size(), static_cast<std::size_t>(group.size()));
    for (int m = 0; m < group.size(); ++m) {
      const auto expected = vector_of(group.rank(m), length(m));
      const auto& got = all[static_cast<std::size_t>(m)];
      ASSERT_TRUE(std::equal(got.begin(), got.end(), expected.begin(), expected.end()));
    }
    const auto texts =
        all_gather_texts(group, std::string(static_cast<std::size_t>(group.index()), 'x'));
    for (std::size_t m = 0; m < texts.size(); ++m) ASSERT_EQ(texts[m], std::string(m, 'x'));
  });
}

TEST(Barrier, NobodyLeavesBeforeAllHaveCome) {
  // Between processes a counter in memory means nothing; there each has the messages of the others.
  const auto world = world_under_test();
  const bool processes = world_under_test_name() == "mpi";
  for (const int ranks : ranks_under_test(kRanks)) {
    std::atomic<int> arrived{0};
    world->run(ranks, [&](Transport& transport) {
      Group group(transport);
      for (int round = 1; round <= 50; ++round) {
        if (transport.rank() == round % ranks) transport.charge(0.001);  // one comes late
        ++arrived;
        barrier(group);
        if (!processes) {
          ASSERT_GE(arrived.load(), round * ranks);
        }
        barrier(group);
      }
    });
  }
}

TEST(Barrier, SeparatesWhatIsSentBeforeFromWhatIsSentAfter) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test({2, 4})) {
    world->run(ranks, [&](Transport& transport) {
      Group group(transport);
      const std::byte word{1};
      const Tag tag = 40;
      // Rank 0's message is on its way before the barrier, so after it everybody finds it there.
      Request sending;
      if (transport.rank() == 0) sending = transport.isend(ranks - 1, tag, {&word, 1});
      barrier(group);
      if (transport.rank() == ranks - 1) {
        std::byte heard{};
        Request request = transport.irecv(0, tag, {&heard, 1});
        transport.wait(request);
        EXPECT_EQ(heard, word);
      }
      if (transport.rank() == 0) transport.wait(sending);
    });
  }
}

}  // namespace
}  // namespace lockstep
