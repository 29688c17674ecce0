#include "lockstep/data/normalisation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

TEST(Normalisation, OfBytesIsPerChannelAndOnlyOverTheSamplesGiven) {
  Dataset dataset;
  dataset.shape = {DataShape::Kind::kImage, {2, 1, 2}, 2, 0};
  dataset.samples = 3;
  dataset.values = AlignedVector<std::uint8_t>{0, 9, 255, 9, 51, 9, 204, 9, 77, 77, 77, 77};
  const std::vector<SampleId> ids{0, 1};
  const Normalisation n = measure_normalisation(dataset, ids);
  ASSERT_EQ(n.mean.size(), 2u);
  EXPECT_FLOAT_EQ(n.mean[0], 0.5f);
  EXPECT_FLOAT_EQ(n.deviation[0], std::sqrt((0.25f + 0.09f) / 2));
  EXPECT_FLOAT_EQ(n.mean[1], 9.0f / 255);
  EXPECT_FLOAT_EQ(n.deviation[1], 1);  // never changes
}

TEST(Normalisation, OfVectorsIsOverAllValuesAlsoFarFromZero) {
  Dataset dataset;
  dataset.shape = {DataShape::Kind::kVector, {2}, 2, 0};
  dataset.samples = 2;
  dataset.values = AlignedVector<float>{10000, 10002, 10000, 10002};
  const std::vector<SampleId> ids{0, 1};
  const Normalisation n = measure_normalisation(dataset, ids);
  ASSERT_EQ(n.mean.size(), 1u);
  EXPECT_FLOAT_EQ(n.mean[0], 10001);
  EXPECT_FLOAT_EQ(n.deviation[0], 1);
  std::get<AlignedVector<float>>(dataset.values)[1] = std::numeric_limits<float>::infinity();
  EXPECT_THROW(measure_normalisation(dataset, ids), DataError);
}

TEST(Normalisation, TokensHaveNone) {
  Dataset dataset;
  dataset.shape = {DataShape::Kind::kTokens, {2}, 5, 5};
  EXPECT_TRUE(measure_normalisation(dataset, {}).mean.empty());
}

}  // namespace
}  // namespace lockstep
