#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/data/dataset.h"
#include "lockstep/data/files.h"
#include "lockstep/data/shape_image.h"

namespace lockstep {
namespace {

std::shared_ptr<const Dataset> load(int samples, int test, int seed = 1) {
  auto& registry = Registry<DatasetSource>::instance();
  Options options = registry.options("shapes");
  options.set_value("samples", std::int64_t{samples});
  options.set_value("test", std::int64_t{test});
  options.set_value("seed", std::int64_t{seed});
  return registry.make("shapes", options)->load();
}

FileBytes images(const Dataset& dataset, std::size_t from, std::size_t to) {
  const auto& bytes = std::get<AlignedVector<std::uint8_t>>(dataset.values);
  return {bytes.begin() + static_cast<long>(from * kShapeBytes),
          bytes.begin() + static_cast<long>(to * kShapeBytes)};
}

TEST(Shapes, SampleIsTheSameWhateverTheSize) {
  const auto small = load(37, 15), large = load(90, 20);
  EXPECT_EQ(images(*small, 0, 37), images(*large, 0, 37));
  EXPECT_EQ(images(*small, 37, 52), images(*large, 90, 105));
  EXPECT_TRUE(std::equal(small->labels.begin(), small->labels.begin() + 37, large->labels.begin()));
  EXPECT_TRUE(
      std::equal(small->labels.begin() + 37, small->labels.end(), large->labels.begin() + 90));
}

TEST(Shapes, EveryClassIsEquallyOften) {
  const auto dataset = load(60, 40);
  EXPECT_EQ(dataset->shape.classes, 10);
  EXPECT_EQ(dataset->class_names.size(), 10U);
  for (const auto& [from, to] : {std::pair{0, 60}, std::pair{60, 100}}) {
    std::vector<int> count(10);
    for (int i = from; i < to; ++i) ++count[static_cast<std::size_t>(dataset->labels[i])];
    EXPECT_THAT(count, testing::Each((to - from) / 10));
  }
}

TEST(Shapes, SeedsSamplesAndTestSetsDiffer) {
  const auto dataset = load(20, 20);
  EXPECT_NE(images(*dataset, 0, 20), images(*load(20, 20, 2), 0, 20));
  EXPECT_NE(images(*dataset, 0, 20), images(*dataset, 20, 40));
  for (std::size_t i = 1; i < 40; ++i)
    EXPECT_NE(images(*dataset, 0, 1), images(*dataset, i, i + 1));
}

// A colour that told the class would make the set easy for models that see no form.
TEST(Shapes, MeanColourTellsNothingAboutTheClass) {
  const auto dataset = load(2000, 0);
  const auto& bytes = std::get<AlignedVector<std::uint8_t>>(dataset->values);
  std::vector<double> corner(10);
  for (std::size_t i = 0; i < 2000; ++i) {
    corner[static_cast<std::size_t>(dataset->labels[i])] += bytes[i * kShapeBytes] / 200.0;
  }
  // Means of 200 images whose corner deviates by about 50: within 5 standard errors.
  for (const double mean : corner) EXPECT_NEAR(mean, corner[0], 25);
}

// The bytes are the same on every machine, so that results can be compared.
TEST(Shapes, AreThoseOfEveryOtherMachine) {
  const auto dataset = load(200, 100);
  EXPECT_EQ(sha256(images(*dataset, 0, 300)),
            "95ca3e4466f1d4bfcfd64a30f16aa13db601c1319cfed9aa9504c59039fad3fe");
}

}  // namespace
}  // namespace lockstep
