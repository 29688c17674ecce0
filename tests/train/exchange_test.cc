#include "lockstep/train/exchange.h"

#include <gtest/gtest.h>

#include "tests/world_under_test.h"

namespace lockstep {
namespace {

const std::vector<int> kRanks{1, 2, 3, 4, 7};

// None, a few and many; 4 bytes and a remainder of each length.
std::string text_of(int rank, std::size_t n) {
  return std::string(n, static_cast<char>('a' + rank));
}

TEST(Exchange, TheRootGathersWhatEachBrought) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test(kRanks)) {
    world->run(ranks, [&](Transport& transport) {
      Group group(transport);
      for (int root = 0; root < ranks; ++root) {
        const auto length = [](int rank) { return static_cast<std::size_t>(rank) * 33'331; };
        const auto texts = gather_texts(group, text_of(group.index(), length(group.index())), root);
        ASSERT_EQ(texts.size(), group.index() == root ? static_cast<std::size_t>(ranks) : 0);
        for (std::size_t r = 0; r < texts.size(); ++r) {
          EXPECT_EQ(texts[r], text_of(static_cast<int>(r), length(static_cast<int>(r))));
        }
      }
    });
  }
}

TEST(Exchange, EverybodyEndsWithTheRootsContent) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test(kRanks)) {
    world->run(ranks, [&](Transport& transport) {
      Group group(transport);
      for (const std::size_t n : {0u, 1u, 3u, 4u, 5u, 300'002u}) {
        const int root = ranks - 1;
        std::string text =
            text_of(group.index(), n + static_cast<std::size_t>(root - group.index()));
        broadcast_text(group, text, root);
        EXPECT_EQ(text, text_of(root, n));
        std::vector<std::byte> bytes(group.index() == root ? n : 2, std::byte(group.index()));
        broadcast_bytes(group, bytes, root);
        EXPECT_EQ(bytes, std::vector<std::byte>(n, std::byte(root)));
      }
    });
  }
}

TEST(Exchange, OneYesIsAYesForAll) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test(kRanks)) {
    world->run(ranks, [&](Transport& transport) {
      Group group(transport);
      EXPECT_FALSE(any_member(group, false));
      for (int who = 0; who < ranks; ++who) EXPECT_TRUE(any_member(group, who == group.index()));
      EXPECT_TRUE(any_member(group, true));
    });
  }
}

}  // namespace
}  // namespace lockstep
