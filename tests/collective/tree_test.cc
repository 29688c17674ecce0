#include "lockstep/collective/tree.h"

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using ::testing::ElementsAre;

TEST(BinomialTree, IsTheOneOfTheDrawing) {
  EXPECT_THAT(binomial_children(0, 7), ElementsAre(1, 2, 4));
  EXPECT_THAT(binomial_children(2, 7), ElementsAre(3));
  EXPECT_THAT(binomial_children(4, 7), ElementsAre(5, 6));
  EXPECT_THAT(binomial_children(6, 7), ElementsAre());
  EXPECT_EQ(binomial_parent(0), -1);
  EXPECT_EQ(binomial_parent(6), 4);
}

TEST(BinomialTree, ParentsAndChildrenAgreeAndLevelsSuffice) {
  for (int count = 1; count <= 70; ++count) {
    int edges = 0;
    for (int node = 0; node < count; ++node) {
      for (const int child : binomial_children(node, count)) {
        EXPECT_EQ(binomial_parent(child), node);
        EXPECT_LT(binomial_level(child), tree_levels(count));
        ++edges;
      }
    }
    EXPECT_EQ(edges, count - 1);  // every node but the root is somebody's child, once
  }
  EXPECT_EQ(tree_levels(1), 0);
  EXPECT_EQ(tree_levels(8), 3);
  EXPECT_EQ(tree_levels(9), 4);
}

}  // namespace
}  // namespace lockstep
