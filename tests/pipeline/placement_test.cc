// Placements against all there are, and times against a hand's reckoning.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/pipeline/gantt.h"
#include "lockstep/pipeline/operator_placement.h"
#include "lockstep/pipeline/placement_search.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

Devices equal_devices(int count, double latency = 1, double bandwidth = 1) {
  ClusterDescription cluster;
  cluster.hosts = count;
  cluster.latency = latency;
  cluster.bandwidth = bandwidth;
  return devices_of(cluster);
}

// a feeds b and c, which feed d.
OperatorGraph diamond() {
  OperatorGraph graph;
  graph.operators = {{"a", 2, 10, {}},
                     {"b", 3, 10, {{0, 4}}},
                     {"c", 5, 10, {{0, 2}}},
                     {"d", 1, 10, {{1, 1}, {2, 1}}}};
  connect(graph);
  return graph;
}

OperatorGraph random_graph(Random& random, std::size_t operators) {
  OperatorGraph graph;
  for (std::size_t i = 0; i < operators; ++i) {
    Operator op{std::to_string(i),
                1 + static_cast<double>(random.below(9)),
                static_cast<double>(random.below(5)),
                {}};
    for (std::size_t j = 0; j < i; ++j) {
      if (random.below(3) == 0) op.inputs.push_back({j, static_cast<double>(random.below(6))});
    }
    graph.operators.push_back(std::move(op));
  }
  connect(graph);
  return graph;
}

// The best of all ways to give operators to devices, with `priority`.
double best_of_all(const OperatorGraph& graph, const Devices& devices,
                   const std::vector<double>& priority) {
  PlacementSimulator simulator(graph, devices);
  OperatorPlacement placement{std::vector<std::size_t>(graph.operators.size(), 0), priority};
  double best = std::numeric_limits<double>::infinity();
  for (;;) {
    if (fits_memory(graph, devices, placement)) {
      best = std::min(best, simulator.run(placement).makespan);
    }
    std::size_t i = 0;
    while (i < placement.device.size() && ++placement.device[i] == devices.size()) {
      placement.device[i++] = 0;
    }
    if (i == placement.device.size()) return best;
  }
}

TEST(Placement, TimesAreThoseOfAHand) {
  const OperatorGraph graph = diamond();
  const Devices devices = equal_devices(2);
  PlacementSimulator simulator(graph, devices);
  // b elsewhere: a until 2, its result on the way until 2 + 4 + 1, b until 10, back at 12, d.
  const PlacementTimes& times = simulator.run({{0, 1, 0, 0}, upward_ranks(graph, devices)});
  EXPECT_DOUBLE_EQ(times.makespan, 13);
  ASSERT_EQ(times.messages.size(), 2u);
  EXPECT_DOUBLE_EQ(times.messages[0].end, 7);
  EXPECT_DOUBLE_EQ(simulator.run({{0, 0, 0, 0}, upward_ranks(graph, devices)}).makespan, 11);
  // Both elsewhere: one message with the larger of the two results.
  const PlacementTimes& both = simulator.run({{0, 1, 1, 1}, upward_ranks(graph, devices)});
  EXPECT_EQ(both.messages.size(), 1u);
  EXPECT_DOUBLE_EQ(both.makespan, 2 + 4 + 1 + 5 + 3 + 1);
}

TEST(Placement, MessagesLeaveOneAfterTheOtherTheUrgentFirst) {
  OperatorGraph graph;
  graph.operators = {{"a", 1, 0, {}}, {"b", 1, 0, {{0, 10}}}, {"c", 1, 0, {{0, 10}}}};
  connect(graph);
  const Devices devices = equal_devices(3, 0, 10);
  PlacementSimulator simulator(graph, devices);
  const PlacementTimes& times = simulator.run({{0, 1, 2}, {3, 1, 2}});
  EXPECT_EQ(times.messages[0].to, 2u);
  EXPECT_DOUBLE_EQ(times.messages[1].begin, 2);
  EXPECT_DOUBLE_EQ(times.makespan, 4);
}

TEST(Placement, BoundsHoldAndDependenciesToo) {
  Random random(3, "graphs", 0, 0);
  for (int round = 0; round < 50; ++round) {
    const OperatorGraph graph = random_graph(random, 2 + random.below(12));
    const Devices devices = equal_devices(3);
    PlacementSimulator simulator(graph, devices);
    const auto turns = round_robin(graph, devices);
    const PlacementTimes times = simulator.run(*turns);
    EXPECT_GE(times.makespan, placement_lower_bound(graph, devices) - 1e-9);
    ASSERT_EQ(times.tasks.size(), graph.operators.size());
    std::vector<double> begin(times.tasks.size()), end(times.tasks.size());
    for (const PlacedTask& task : times.tasks) {
      begin[task.op] = task.begin;
      end[task.op] = task.end;
    }
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
      for (const GraphInput& input : graph.operators[i].inputs) {
        EXPECT_GE(begin[i], end[input.from]);
      }
    }
  }
}

TEST(Placement, SearchIsWithinFivePercentOfTheBestThereIs) {
  Random random(11, "graphs", 0, 0);
  for (int round = 0; round < 24; ++round) {
    const OperatorGraph graph = random_graph(random, 4 + random.below(7));
    ClusterDescription cluster;
    cluster.hosts = 2 + static_cast<int>(random.below(2));
    cluster.latency = static_cast<double>(random.below(3)) / 2;
    cluster.bandwidth = 1 + static_cast<double>(random.below(4));
    cluster.slow = {{0, 1.5}};
    if (random.below(2) == 0) cluster.memory = 14;
    const Devices devices = devices_of(cluster);
    const double best = best_of_all(graph, devices, upward_ranks(graph, devices));
    if (best == std::numeric_limits<double>::infinity()) continue;
    const OperatorPlacement found = search_placement(graph, devices, {3000, 1, {}});
    EXPECT_TRUE(fits_memory(graph, devices, found));
    EXPECT_LE(PlacementSimulator(graph, devices).run(found).makespan, 1.05 * best)
        << graph.operators.size() << " operators, round " << round;
  }
}

// Also over all orders of priority, for graphs small enough.
TEST(Placement, SearchFindsOrdersToo) {
  Random random(5, "graphs", 0, 0);
  for (int round = 0; round < 6; ++round) {
    const OperatorGraph graph = random_graph(random, 6);
    const Devices devices = equal_devices(2, 0.5, 2);
    std::vector<double> priority(6);
    std::iota(priority.begin(), priority.end(), 0);
    double best = std::numeric_limits<double>::infinity();
    do {
      best = std::min(best, best_of_all(graph, devices, priority));
    } while (std::ranges::next_permutation(priority).found);
    const OperatorPlacement found = search_placement(graph, devices, {3000, 1, {}});
    EXPECT_LE(PlacementSimulator(graph, devices).run(found).makespan, 1.05 * best);
  }
}

TEST(Placement, ExamplesBeatOneDeviceAndTurns) {
  const std::string folder = LOCKSTEP_EXAMPLES "/graphs/";
  const Devices devices = devices_of(load_cluster(folder + "four_devices.toml"));
  for (const char* name : {"lstm.toml", "branching_cnn.toml"}) {
    const OperatorGraph graph = load_graph(folder + name);
    PlacementSimulator simulator(graph, devices);
    const double found = simulator.run(search_placement(graph, devices, {6000, 1, {}})).makespan;
    EXPECT_LT(found, simulator.run(*one_device(graph, devices)).makespan) << name;
    EXPECT_LT(found, simulator.run(*round_robin(graph, devices)).makespan) << name;
    EXPECT_LE(found, simulator.run(*list_scheduling(graph, devices)).makespan) << name;
    EXPECT_GE(found, placement_lower_bound(graph, devices) - 1e-12) << name;
  }
}

TEST(Placement, WhatJustFitsIsFound) {
  OperatorGraph graph;
  for (const double bytes : {3, 3, 2, 2, 2}) {
    graph.operators.push_back({std::to_string(graph.operators.size()), 1, bytes, {}});
  }
  connect(graph);
  ClusterDescription cluster;
  cluster.hosts = 2;
  cluster.memory = 6;  // 3 + 3 and 2 + 2 + 2
  const Devices devices = devices_of(cluster);
  EXPECT_TRUE(fits_memory(graph, devices, search_placement(graph, devices, {100, 1, {}})));
}

TEST(Placement, DevicesThatDoNotMoveAreRefused) {
  ClusterDescription cluster;
  cluster.hosts = 2;
  cluster.speed = 1e-300;
  cluster.slow = {{1, 1e9}};
  EXPECT_THROW(devices_of(cluster), ConfigError);
}

// Costs that grow with the square would take minutes here.
TEST(Placement, WideGraphsAreSimulatedQuickly) {
  OperatorGraph graph;
  graph.operators.push_back({"root", 1, 0, {}});
  for (std::size_t i = 1; i < 50000; ++i) {
    graph.operators.push_back({std::to_string(i), 1, 0, {{i < 25000 ? 0 : i - 24999, 10}}});
  }
  connect(graph);
  const Devices devices = equal_devices(500);
  PlacementSimulator simulator(graph, devices);
  EXPECT_EQ(simulator.run(*round_robin(graph, devices)).tasks.size(), 50000u);
}

TEST(Placement, MemoryIsALimit) {
  const OperatorGraph graph = diamond();  // 40 bytes
  ClusterDescription cluster;
  cluster.hosts = 3;
  cluster.memory = 15;
  cluster.memories = {{1, 20}};
  const Devices small = devices_of(cluster);
  EXPECT_FALSE(one_device(graph, small));
  EXPECT_TRUE(fits_memory(graph, small, search_placement(graph, small, {500, 1, {}})));
  cluster.memories.clear();
  try {
    search_placement(graph, devices_of(cluster), {500, 1, {}});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no placement was found that fits"));
  }
}

TEST(Placement, ThePictureHasEveryOperator) {
  OperatorGraph graph = diamond();
  graph.operators[1].name = "b<&";
  const Devices devices = equal_devices(2);
  PlacementSimulator simulator(graph, devices);
  const std::string svg =
      gantt_svg(graph, devices, simulator.run({{0, 1, 0, 0}, upward_ranks(graph, devices)}));
  for (const char* part : {"<title>a, ", "<title>b&lt;&amp;, ", "<title>c, ", "<title>d, ",
                           "<title>a to host 1", "host 0", "</svg>"}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
}

}  // namespace
}  // namespace lockstep
