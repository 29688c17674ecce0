// PowerSGD's rule: exact on matrices of its rank, in either view of filters, better over steps,
// short.
#include <gtest/gtest.h>

#include "tests/compress/vectors.h"

namespace lockstep {
namespace {

TEST(PowerSgd, IsExactOnMatricesOfItsRank) {
  const std::size_t rows = 40, columns = 70, n = rows * columns;
  for (const int rank : {1, 2, 3}) {
    Vector values(n, 0.0f);
    for (int k = 0; k < rank; ++k) {
      const Vector a = normal_vector(rows, static_cast<std::uint64_t>(10 + k));
      const Vector b = normal_vector(columns, static_cast<std::uint64_t>(20 + k));
      for (std::size_t i = 0; i < n; ++i) values[i] += a[i / columns] * b[i % columns];
    }
    const std::vector<Layer> layers{{"m", 0, n, {40, 70}, LayerKind::kWeight}};
    const auto compressor = make("powersgd", layers, {{"rank", "3"}});
    for (int step = 0; step < 3; ++step) {  // also from the factors of the step before
      const Vector sent = decoded(*compressor, message_of(*compressor, values).view(), n);
      for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(sent[i], values[i], 1e-4) << rank;
    }
  }
}

// (out·height) × (in·width), and out × all others.
TEST(PowerSgd, IsExactOnFiltersOfItsRankInEitherView) {
  const std::size_t out = 12, in = 10, height = 3, width = 5, n = out * in * height * width;
  const std::vector<Layer> layers{{"bias", 0, 7, {7}, LayerKind::kBias},
                                  {"filters", 7, n, {12, 10, 3, 5}, LayerKind::kWeight}};
  for (const bool square : {true, false}) {
    const Vector a = normal_vector(square ? out * height : out, 1);
    const Vector b = normal_vector(square ? in * width : in * height * width, 2);
    Vector values = normal_vector(7 + n, 3);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t w = i % width, h = i / width % height, c = i / width / height % in,
                        o = i / width / height / in;
      values[7 + i] =
          square ? a[o * height + h] * b[c * width + w] : a[o] * b[(c * height + h) * width + w];
    }
    const auto compressor =
        make("powersgd", layers, {{"rank", "1"}, {"filters", square ? "square" : "rows"}});
    const Bytes message = message_of(*compressor, values);
    EXPECT_EQ(message.size(), sizeof(float) * (7 + a.size() + b.size()));
    const Vector sent = decoded(*compressor, message.view(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(sent[i], values[i], 1e-4) << i;
  }
}

TEST(PowerSgd, GetsBetterOverSteps) {
  const std::vector<Layer> layers{{"m", 0, 64 * 64, {64, 64}, LayerKind::kWeight}};
  Vector values = normal_vector(64 * 64, 1, 0.1);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += static_cast<float>(i % 64 * (i / 64)) * 1e-3f;
  const auto error = [&](Compressor& compressor) {
    Vector sent = decoded(compressor, message_of(compressor, values).view(), values.size());
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] -= values[i];
    return norm(sent);
  };
  const auto warm = make("powersgd", layers),
             cold = make("powersgd", layers, {{"warm_start", "false"}});
  const double first = error(*warm);
  double last = 0, cold_sum = 0;
  for (int step = 0; step < 20; ++step) {
    last = error(*warm);
    cold_sum += error(*cold);
  }
  EXPECT_LT(last, first);
  EXPECT_LT(last, cold_sum / 20);
}

// How many times less rank 2 sends of layers with these shapes.
double powersgd_ratio(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<Layer> layers;
  std::size_t offset = 0;
  for (const auto& shape : shapes) {
    std::size_t size = 1;
    for (const std::int64_t extent : shape) size *= static_cast<std::size_t>(extent);
    layers.push_back(
        {"layer", offset, size, shape, shape.size() > 1 ? LayerKind::kWeight : LayerKind::kBias});
    offset += size;
  }
  const auto compressor = make("powersgd", layers, {{"rank", "2"}});
  return static_cast<double>(offset) * 4 / compressor->expected_bytes({});
}

// 10 million parameters.
TEST(PowerSgd, SendsAThreeHundredthOfAnMlp) {
  EXPECT_GE(
      powersgd_ratio(
          {{2048, 784}, {2048}, {2048, 2048}, {2048}, {2048, 2048}, {2048}, {10, 2048}, {10}}),
      300);
}

TEST(PowerSgd, SendsATwentyFifthOfResNet20) {
  std::vector<std::vector<std::int64_t>> shapes;
  const auto convolution = [&](std::int64_t in, std::int64_t out) {
    shapes.push_back({out, in, 3, 3});
    for (int i = 0; i < 2; ++i) shapes.push_back({out});  // the normalisation behind it
  };
  convolution(3, 16);
  for (const std::int64_t width : {16, 32, 64}) {
    convolution(width == 16 ? 16 : width / 2, width);
    for (int i = 0; i < 5; ++i) convolution(width, width);
  }
  shapes.push_back({10, 64});
  shapes.push_back({10});
  EXPECT_GE(powersgd_ratio(shapes), 25);
}

}  // namespace
}  // namespace lockstep
