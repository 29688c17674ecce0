#include "lockstep/data/split.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

Dataset of_size(std::size_t samples, std::size_t first_test) {
  Dataset dataset;
  dataset.name = "made";
  dataset.samples = samples;
  dataset.first_test = first_test;
  return dataset;
}

TEST(Split, TakesEverySampleOnceAndLeavesTheTestSetAlone) {
  const Split parts = split(of_size(60'000, 50'000), 0.1, true, 1);
  EXPECT_EQ(parts.train.size(), 45'000u);
  EXPECT_EQ(parts.validation.size(), 5'000u);
  EXPECT_EQ(parts.test.size(), 10'000u);
  std::vector<int> seen(60'000);
  for (const auto* part : {&parts.train, &parts.validation, &parts.test}) {
    EXPECT_TRUE(std::is_sorted(part->begin(), part->end()));
    for (const SampleId id : *part) ++seen[id];
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 60'000);
  EXPECT_EQ(parts.test.front(), 50'000u);
}

TEST(Split, IsChosenByTheSeed) {
  const Dataset dataset = of_size(1000, 1000);
  EXPECT_EQ(split(dataset, 0.2, true, 7).validation, split(dataset, 0.2, true, 7).validation);
  EXPECT_NE(split(dataset, 0.2, true, 7).validation, split(dataset, 0.2, true, 8).validation);
}

TEST(Split, InOrderTakesTheLastOnes) {
  const Split parts = split(of_size(12, 10), 0.2, false, 1);
  EXPECT_EQ(parts.train, (std::vector<SampleId>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(parts.validation, (std::vector<SampleId>{8, 9}));
  EXPECT_EQ(parts.test, (std::vector<SampleId>{10, 11}));
}

TEST(Split, RefusesSharesThatLeaveNothing) {
  EXPECT_THROW(split(of_size(10, 10), 1, true, 1), ConfigError);
  EXPECT_THROW(split(of_size(10, 10), -0.1, true, 1), ConfigError);
  EXPECT_THROW(split(of_size(10, 10), 0.99, true, 1), DataError);
  EXPECT_THROW(split(of_size(0, 0), 0, true, 1), DataError);
}

}  // namespace
}  // namespace lockstep
