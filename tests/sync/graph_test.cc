#include "lockstep/sync/graph.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep {
namespace {

using Workers = std::vector<int>;

TEST(Graph, RingHearsBothSides) {
  EXPECT_EQ(ring_neighbours(0, 1), Workers());
  EXPECT_EQ(ring_neighbours(0, 2), Workers({1}));
  EXPECT_EQ(ring_neighbours(1, 3), Workers({0, 2}));
  EXPECT_EQ(ring_neighbours(0, 6), Workers({1, 5}));
  EXPECT_EQ(ring_neighbours(5, 6), Workers({0, 4}));
}

TEST(Graph, TorusHearsFourSidesOfAGrid) {
  EXPECT_EQ(torus_neighbours(0, 1), Workers());
  EXPECT_EQ(torus_neighbours(0, 4), Workers({1, 2}));         // 2 × 2
  EXPECT_EQ(torus_neighbours(0, 5), Workers({1, 4}));         // prime: a ring
  EXPECT_EQ(torus_neighbours(3, 6), Workers({1, 2, 5}));      // 3 rows of 2
  EXPECT_EQ(torus_neighbours(4, 9), Workers({1, 3, 5, 7}));   // the middle of 3 × 3
  EXPECT_EQ(torus_neighbours(0, 12), Workers({1, 2, 3, 9}));  // a corner of 4 rows of 3
}

TEST(Graph, ExponentialHearsPowersOfTwoBefore) {
  EXPECT_EQ(exponential_neighbours(0, 1), Workers());
  EXPECT_EQ(exponential_neighbours(0, 2), Workers({1}));
  EXPECT_EQ(exponential_neighbours(0, 4), Workers({2, 3}));
  EXPECT_EQ(exponential_neighbours(5, 8), Workers({1, 3, 4}));
  EXPECT_EQ(exponential_neighbours(0, 6), Workers({2, 4, 5}));
  EXPECT_EQ(hearers(exponential_neighbours, 5, 8), Workers({1, 6, 7}));
}

TEST(Graph, EverybodyHearsAndIsHeardByEquallyMany) {
  for (const std::string& name : graph_names()) {
    const Graph graph = graph_named(name);
    for (int workers = 1; workers <= 17; ++workers) {
      const std::size_t degree = graph(0, workers).size();
      for (int worker = 0; worker < workers; ++worker) {
        EXPECT_EQ(graph(worker, workers).size(), degree) << name << workers;
        EXPECT_EQ(hearers(graph, worker, workers).size(), degree) << name << workers;
      }
    }
  }
}

TEST(Graph, NewsReachEverybodyOnAnExponentialGraphInTheLogarithmOfSteps) {
  for (const int workers : {2, 4, 8, 16}) {
    std::vector<bool> knows(static_cast<std::size_t>(workers));
    knows[0] = true;
    int steps = 0;
    for (; !std::ranges::all_of(knows, [](bool one) { return one; }); ++steps) {
      const auto before = knows;
      for (int worker = 0; worker < workers; ++worker) {
        for (const int heard : exponential_neighbours(worker, workers)) {
          if (before[static_cast<std::size_t>(heard)])
            knows[static_cast<std::size_t>(worker)] = true;
        }
      }
    }
    EXPECT_EQ(1 << steps, workers);
  }
}

}  // namespace
}  // namespace lockstep
