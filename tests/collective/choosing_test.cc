// The algorithms that choose between others, and those that can be asked for what makes no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lockstep/collective/all_reduce.h"
#include "lockstep/collective/collectives.h"
#include "lockstep/collective/measure.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

std::unique_ptr<AllReduce> make(const std::string& name,
                                const std::vector<std::pair<std::string, std::string>>& settings) {
  auto& registry = Registry<AllReduce>::instance();
  Options options = registry.options(name);
  for (const auto& [key, text] : settings) options.set(key, text);
  return registry.make(name, options);
}

TEST(Hybrid, ChangesAtTheGivenThreshold) {
  const auto hybrid = make("hybrid", {{"threshold", "4K"}, {"small", "tree"}, {"large", "torus"}});
  auto& registry = Registry<AllReduce>::instance();
  EXPECT_EQ(hybrid->cost(8, 1023), registry.make("tree")->cost(8, 1023));
  EXPECT_EQ(hybrid->cost(8, 1024), registry.make("torus")->cost(8, 1024));
  EXPECT_THAT(hybrid->findings(), HasSubstr("tree below 4K, torus from there (given)"));
  EXPECT_THROW(make("hybrid", {{"small", "all-to-all"}}), ConfigError);
  EXPECT_THROW(make("hybrid", {{"threshold", "a lot"}}), ConfigError);
}

// Measures on the world under test, and then still computes what it should.
void expect_prepared_runs(const std::string& name, const std::string& in_findings) {
  const auto world = world_under_test();
  const int ranks = ranks_under_test({4, 2}).front();
  world->run(ranks, [&](Transport& transport) {
    Group group(transport);
    const auto algorithm = make(name, {});
    algorithm->prepare(group);
    EXPECT_THAT(algorithm->findings(), HasSubstr(in_findings));
    // All must have come to the same conclusion.
    for (const auto& text : all_gather_texts(group, algorithm->findings())) {
      ASSERT_EQ(text, algorithm->findings());
    }
    for (const std::size_t n : {10u, 10'000u, 500'000u}) {
      AlignedVector<float> data(n, static_cast<float>(transport.rank()));
      algorithm->run(group, data, ReduceOp::kMax);
      ASSERT_EQ(data[n / 2], static_cast<float>(ranks - 1));
    }
  });
}

TEST(Hybrid, MeasuresItsThreshold) {
  expect_prepared_runs("hybrid", "measured");
}
TEST(Auto, MeasuresATable) {
  expect_prepared_runs("auto", "ranks, 16K");
}

TEST(Auto, KeepsItsTableAndReadsItAgain) {
  const auto threads = Registry<World>::instance().make("threads");
  const auto path = std::filesystem::temp_directory_path() /
                    ("lockstep-auto-" + std::to_string(getpid()) + ".jsonl");
  std::filesystem::remove(path);
  std::string first, again;
  for (std::string* findings : {&first, &again}) {
    threads->run(3, [&](Transport& transport) {
      Group group(transport);
      const auto algorithm = make("auto", {{"table", path.string()}});
      algorithm->prepare(group);
      if (transport.rank() == 0) *findings = algorithm->findings();
    });
  }
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(first, again);  // measured anew, it would differ in some digit

  std::ofstream(path) << "{\"ranks\": 3, \"bytes\": 1024, \"best\": \"rong\", \"seconds\": {}}\n";
  EXPECT_THROW(threads->run(3,
                            [&](Transport& transport) {
                              Group group(transport);
                              make("auto", {{"table", path.string()}})->prepare(group);
                            }),
               DataError);
  std::filesystem::remove(path);
}

TEST(Hierarchical, RefusesMoreGroupsThanRanks) {
  const auto world = world_under_test();
  const auto algorithm = make("hierarchical", {{"groups", "9"}});
  EXPECT_THROW(algorithm->cost(4, 10), ConfigError);
  try {
    world->run(2, [&](Transport& transport) {
      Group group(transport);
      AlignedVector<float> data(10);
      algorithm->run(group, data, ReduceOp::kSum);
    });
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("9 groups asked for, but there are only 2 ranks"));
  }
}

TEST(Hierarchical, AnyNumberOfGroupsIsRight) {
  const int ranks = 7;
  const auto world = world_with_room_for(ranks);
  for (int groups = 1; groups <= ranks; ++groups) {
    world->run(ranks, [&](Transport& transport) {
      Group group(transport);
      AlignedVector<float> data(1001, static_cast<float>(transport.rank() + 1));
      make("hierarchical", {{"groups", std::to_string(groups)}})->run(group, data, ReduceOp::kMean);
      for (const float value : data) ASSERT_EQ(value, 4);
    });
  }
}

TEST(Measure, OrderStatistics) {
  const Timing timing = summarise({5, 1, 3, 2, 4, 6, 7, 8, 9, 10, 11});
  EXPECT_DOUBLE_EQ(timing.median, 6);
  EXPECT_DOUBLE_EQ(timing.p10, 2);
  EXPECT_DOUBLE_EQ(timing.p90, 10);
  EXPECT_DOUBLE_EQ(summarise({3}).p90, 3);
  EXPECT_DOUBLE_EQ(summarise({1, 2}).median, 1.5);
}

TEST(Measure, RepeatsMoreOfWhatIsShort) {
  EXPECT_EQ(usual_repeats(1e-6, 0.5, 5, 200), 200);
  EXPECT_EQ(usual_repeats(0.01, 0.5, 5, 200), 50);
  EXPECT_EQ(usual_repeats(10, 0.5, 5, 200), 5);
  EXPECT_EQ(usual_repeats(0, 0.5, 5, 200), 200);
}

}  // namespace
}  // namespace lockstep
