#include "lockstep/data/loader.h"

#include <gtest/gtest.h>

#include <set>

#include "lockstep/base/error.h"
#include "tests/data/made_data.h"

namespace lockstep {
namespace {

using Ids = std::vector<SampleId>;

TEST(Loader, BytesBecomeFloatsAndAreNormalised) {
  const auto dataset = made_images(4, 3, 2, 2);
  const Loader plain(dataset, {}, {}, 1);
  const Loader normal(dataset, {{0.5f, 0.25f, 0}, {1, 2, 0.5f}}, {}, 1);
  Batch a, b;
  plain.load(Ids{2, 0}, 0, a);
  normal.load(Ids{2, 0}, 0, b);
  EXPECT_EQ(a.ids, (Ids{2, 0}));
  ASSERT_EQ(a.values.size(), 24u);
  EXPECT_EQ(a.labels[0], 2);
  for (std::size_t i = 0; i < 24; ++i) {
    const float value = static_cast<float>(i < 12 ? 24 + i : i - 12) / 255;
    EXPECT_EQ(a.values[i], value);
    const float mean[] = {0.5f, 0.25f, 0}, deviation[] = {1, 2, 0.5f};
    EXPECT_EQ(b.values[i], (value - mean[i % 3]) / deviation[i % 3]);
  }
}

TEST(Loader, FloatsStayAsTheyAreUnlessNormalised) {
  auto dataset = std::make_shared<Dataset>();
  dataset->shape = {DataShape::Kind::kVector, {3}, 2, 0};
  dataset->samples = 2;
  dataset->labels = {1, 0};
  dataset->values = AlignedVector<float>{1, 2, 3, 4, 5, 6};
  Batch batch;
  Loader(dataset, {}, {}, 1).load(Ids{1}, 0, batch);
  EXPECT_EQ(batch.values, (AlignedVector<float>{4, 5, 6}));
  Loader(dataset, {{4}, {2}}, {}, 1).load(Ids{1}, 0, batch);
  EXPECT_EQ(batch.values, (AlignedVector<float>{0, 0.5f, 1}));
  EXPECT_THROW(Loader(dataset, {{4, 4}, {2, 2}}, {}, 1), ConfigError);
  EXPECT_THROW(Loader(dataset, {{4}, {0}}, {}, 1), ConfigError);
  EXPECT_THROW(Loader(dataset, {}, {2, false}, 1), ConfigError);
}

TEST(Loader, TheLabelsOfTokensAreTheTokensThatFollow) {
  auto dataset = std::make_shared<Dataset>();
  dataset->shape = {DataShape::Kind::kTokens, {4}, 26, 26};
  dataset->samples = 3;
  dataset->stride = 2;
  dataset->values = AlignedVector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8};
  Batch batch;
  Loader(dataset, {}, {}, 1).load(Ids{2, 0}, 0, batch);
  EXPECT_EQ(batch.tokens, (AlignedVector<std::int64_t>{4, 5, 6, 7, 0, 1, 2, 3}));
  EXPECT_EQ(batch.labels, (AlignedVector<std::int64_t>{5, 6, 7, 8, 1, 2, 3, 4}));
  EXPECT_TRUE(batch.values.empty());
  dataset->samples = 4;
  EXPECT_THROW(Loader(dataset, {}, {}, 1), DataError);
}

// Every augmented image is one of the windows of the padded image, flipped or not, and all occur.
TEST(Loader, AugmentationCutsEveryWindowAndFlipsHalf) {
  constexpr int kSide = 4, kPad = 1;
  const auto dataset = made_images(1, 1, kSide, kSide);
  const Loader loader(dataset, {{0.1f}, {1}}, {kPad, true}, 3);
  Batch original, batch;
  loader.load_plain(Ids{0}, original);
  std::set<int> seen;
  int flipped = 0;
  constexpr int kEpochs = 400;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    loader.load(Ids{0}, epoch, batch);
    int found = -1;
    for (int kind = 0; kind < 18 && found < 0; ++kind) {
      const int row = kind / 2 / 3 - kPad, column = kind / 2 % 3 - kPad;
      bool same = true;
      for (int y = 0; y < kSide; ++y) {
        for (int x = 0; x < kSide; ++x) {
          const int r = y + row, c = (kind % 2 == 1 ? kSide - 1 - x : x) + column;
          const bool inside = r >= 0 && r < kSide && c >= 0 && c < kSide;
          const float expected = inside ? original.values[r * kSide + c] : 0;
          same = same && batch.values[y * kSide + x] == expected;
        }
      }
      if (same) found = kind;
    }
    ASSERT_GE(found, 0) << "epoch " << epoch;
    seen.insert(found);
    flipped += found % 2;
  }
  EXPECT_EQ(seen.size(), 18u);
  EXPECT_NEAR(flipped, kEpochs / 2, 50);
}

TEST(Loader, ASampleLooksTheSameInWhateverBatchItComes) {
  const auto dataset = made_images(20, 3, 8, 8);
  const Loader loader(dataset, {}, {2, true}, 3), other(dataset, {}, {2, true}, 4);
  Batch alone, together, seed;
  loader.load(Ids{7}, 5, alone);
  loader.load(Ids{1, 7, 3}, 5, together);
  other.load(Ids{0, 1, 2, 3, 4, 5, 6, 7}, 5, seed);
  const std::size_t values = dataset->shape.values();
  for (std::size_t i = 0; i < values; ++i) {
    EXPECT_EQ(alone.values[i], together.values[values + i]);
  }
  Batch first;
  loader.load(Ids{0, 1, 2, 3, 4, 5, 6, 7}, 5, first);
  EXPECT_NE(first.values, seed.values);
  loader.load(Ids{0, 1, 2, 3, 4, 5, 6, 7}, 6, seed);
  EXPECT_NE(first.values, seed.values);
}

TEST(Loader, WhatTeachersSaidOfAnotherBatchIsGone) {
  const auto dataset = made_images(4, 3, 2, 2);
  for (const int pad : {0, 1}) {
    Batch batch;
    batch.soft = {{0.5f, 0.5f}, 1};
    Loader(dataset, {}, {pad, false}, 1).load(Ids{1}, 0, batch);
    EXPECT_TRUE(batch.soft.probabilities.empty());
  }
}

TEST(Loader, AnEmptyBatchIsABatch) {
  const auto dataset = made_images(2, 1, 2, 2);
  Batch batch;
  Loader(dataset, {}, {1, true}, 1).load({}, 0, batch);
  EXPECT_EQ(batch.size(), 0u);
  EXPECT_TRUE(batch.values.empty() && batch.labels.empty());
}

TEST(Loader, ADatasetThatHoldsLessThanItSaysIsRefused) {
  const auto dataset = made_images(2, 1, 2, 2);
  dataset->samples = 3;
  EXPECT_THROW(Loader(dataset, {}, {}, 1), DataError);
  dataset->samples = 2;
  dataset->labels.pop_back();
  EXPECT_THROW(Loader(dataset, {}, {}, 1), DataError);
}

}  // namespace
}  // namespace lockstep
