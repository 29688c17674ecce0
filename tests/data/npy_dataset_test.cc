#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "lockstep/data/dataset.h"
#include "lockstep/data/npy.h"
#include "lockstep/data/npy_header.h"
#include "tests/data/damage.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = DataShape::Kind;

template <typename T>
void save(const std::string& path, const char* type, const NpyShape& shape,
          const std::vector<T>& values) {
  FileBytes bytes = bytes_of(make_npy_header({type, false, shape}));
  const std::size_t at = bytes.size();
  bytes.resize(at + values.size() * sizeof(T));
  std::memcpy(bytes.data() + at, values.data(), values.size() * sizeof(T));
  put(path, bytes);
}

class NpyDataset : public testing::Test {
 protected:
  void x(const std::vector<float>& values, const NpyShape& shape) {
    write_npy(folder_ / "x.npy", values, shape);
  }
  void y(const std::vector<std::int64_t>& labels) {
    save(folder_ / "y.npy", "<i8", {static_cast<std::int64_t>(labels.size())}, labels);
  }
  std::shared_ptr<const Dataset> load(
      const std::vector<std::pair<std::string, std::string>>& more = {}) {
    auto& registry = Registry<DatasetSource>::instance();
    Options options = registry.options("npy");
    options.set("x", folder_ / "x.npy");
    options.set("y", folder_ / "y.npy");
    for (const auto& [name, value] : more) options.set(name, value);
    return registry.make("npy", options)->load();
  }
  std::string error(const std::vector<std::pair<std::string, std::string>>& more = {}) {
    return data_error([&] { load(more); });
  }

  TemporaryFolder folder_;
};

TEST_F(NpyDataset, FourDimensionsAreImagesAsPyTorchHasThem) {
  // Two channels of one row and three columns.
  x({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 2, 1, 3});
  y({0, 4});
  const auto dataset = load();
  EXPECT_EQ(dataset->shape, (DataShape{Kind::kImage, {2, 1, 3}, 5, 0}));
  EXPECT_THAT(std::get<AlignedVector<float>>(dataset->values),
              ElementsAre(1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12));
  EXPECT_THAT(dataset->labels, ElementsAre(0, 4));
  EXPECT_EQ(dataset->first_test, dataset->size());
}

TEST_F(NpyDataset, OtherShapesStayInOrder) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  y({0, 1});
  for (const auto& [shape, expected] :
       {std::pair{NpyShape{2, 3}, DataShape{Kind::kVector, {3}, 2, 0}},
        std::pair{NpyShape{2, 3, 1}, DataShape{Kind::kImage, {1, 3, 1}, 2, 0}},
        std::pair{NpyShape{2, 1, 1, 1, 3}, DataShape{Kind::kVector, {1, 1, 1, 3}, 2, 0}}}) {
    x(values, shape);
    const auto dataset = load();
    EXPECT_EQ(dataset->shape, expected);
    EXPECT_THAT(std::get<AlignedVector<float>>(dataset->values), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST_F(NpyDataset, BytesStayBytesAndTestSamplesFollow) {
  for (const char* name : {"x.npy", "test_x.npy"}) {
    save<std::uint8_t>(folder_ / name, "|u1", {2, 1, 1, 2}, {1, 2, 3, 4});
  }
  save<std::uint8_t>(folder_ / "y.npy", "|u1", {2}, {0, 1});
  const auto dataset = load({{"test_x", folder_ / "test_x.npy"}, {"test_y", folder_ / "y.npy"}});
  EXPECT_THAT(std::get<AlignedVector<std::uint8_t>>(dataset->values),
              ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
  EXPECT_EQ(dataset->first_test, 2U);
  EXPECT_EQ(dataset->size(), 4U);
}

TEST_F(NpyDataset, LabelsOutOfRangeAreNamedWithTheirPlace) {
  x({1, 2, 3}, {3, 1});
  y({0, 7, 1});
  EXPECT_THAT(error({{"classes", "5"}}),
              AllOf(HasSubstr("y.npy"), HasSubstr("label 1 is 7"), HasSubstr("0 to 4")));
  y({0, 1, -3});
  EXPECT_THAT(error(), AllOf(HasSubstr("label 2 is -3")));
  y({0, 1, std::numeric_limits<std::int64_t>::max()});
  EXPECT_THAT(error(), HasSubstr("label 2 is"));
  y({0, 1, 2});
  EXPECT_EQ(load({{"classes", "5"}})->shape.classes, 5);
}

TEST_F(NpyDataset, SaysWhatDoesNotFit) {
  x({1, 2, 3}, {3, 1});
  y({0, 1});
  EXPECT_THAT(error(), AllOf(HasSubstr("y.npy has shape (2,)"), HasSubstr("3 samples")));
  write_npy(folder_ / "y.npy", std::vector<float>{0, 1, 2}, {3});
  EXPECT_THAT(error(), HasSubstr("labels must be int64 or uint8"));
  y({0, 1, 2});
  x({1, std::numeric_limits<float>::quiet_NaN(), 3}, {3, 1});
  EXPECT_THAT(error(), AllOf(HasSubstr("x.npy"), HasSubstr("sample 1 holds nan")));
  x({}, {0, 4});
  EXPECT_THAT(error(), HasSubstr("is empty"));
  save<std::int64_t>(folder_ / "x.npy", "<i8", {1}, {5});
  EXPECT_THAT(error(), HasSubstr("float32 or uint8"));
  EXPECT_THROW(load({{"x", ""}}), ConfigError);
  EXPECT_THROW(load({{"test_x", "a"}}), ConfigError);
  x({1, 2, 3}, {3, 1});
  write_npy(folder_ / "t.npy", std::vector<float>{1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(error({{"test_x", folder_ / "t.npy"}, {"test_y", folder_ / "y.npy"}}),
              HasSubstr("shape (2,)"));
  save<std::uint8_t>(folder_ / "t.npy", "|u1", {3, 1}, {1, 2, 3});
  EXPECT_THAT(error({{"test_x", folder_ / "t.npy"}, {"test_y", folder_ / "y.npy"}}),
              HasSubstr("same type"));
}

}  // namespace
}  // namespace lockstep
