// MNIST and CIFAR-10 in small: the formats, and that nothing damaged is used.
#include "lockstep/data/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/data/cifar10.h"
#include "lockstep/data/dataset.h"
#include "lockstep/data/mnist.h"
#include "tests/data/damage.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<const Dataset> load(const std::string& name, const std::string& folder,
                                    int samples = 0) {
  auto& registry = Registry<DatasetSource>::instance();
  Options options = registry.options(name);
  options.set("folder", folder);
  options.set("samples", std::to_string(samples));
  return registry.make(name, options)->load();
}

FileBytes idx(const FileBytes& shape, const FileBytes& values) {
  FileBytes bytes = {0, 0, 8, static_cast<std::uint8_t>(shape.size())};
  for (const auto extent : shape) {
    for (const std::uint8_t byte : {std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{0}, extent}) {
      bytes.push_back(byte);
    }
  }
  for (const auto value : values) bytes.push_back(value);
  return bytes;
}

TEST(Published, PinsAreCompleteAndWithoutRepetition) {
  for (const Published* published : {&mnist(), &cifar10()}) {
    std::vector<std::string> seen;
    for (const auto& file : published->files) {
      EXPECT_EQ(file.sha256.size(), 64U) << file.name;
      EXPECT_THAT(seen, testing::Not(testing::Contains(file.sha256)));
      seen.push_back(file.sha256);
    }
    EXPECT_TRUE(Registry<DatasetSource>::instance().make(published->name)->published() ==
                published);
  }
}

TEST(Published, DamagedFilesAreNamedAndNeverUsed) {
  const TemporaryFolder folder;
  Published published;
  published.name = "small";
  published.files = {{"a", 3, sha256(bytes_of("abc"))}};
  const auto read = [&] { return read_published(published, published.files[0], folder.path()); };
  EXPECT_THAT(data_error(read), AllOf(HasSubstr("no such file"), HasSubstr("data get small")));
  put(folder / "a", bytes_of("ab"));
  EXPECT_THAT(data_error(read), AllOf(HasSubstr("2 bytes instead of 3"), HasSubstr("data get")));
  put(folder / "a", bytes_of("abd"));
  EXPECT_THAT(data_error(read), AllOf(HasSubstr("/a is damaged"), HasSubstr("checksum")));
  put(folder / "a", bytes_of("abc"));
  EXPECT_EQ(read(), bytes_of("abc"));
}

class SmallMnist : public testing::Test {
 protected:
  SmallMnist() {
    put(folder_ / "train-images-idx3-ubyte", idx({2, 1, 2}, {1, 2, 3, 4}));
    put(folder_ / "train-labels-idx1-ubyte", idx({2}, {7, 3}));
    put(folder_ / "t10k-images-idx3-ubyte", idx({1, 1, 2}, {5, 6}));
    put(folder_ / "t10k-labels-idx1-ubyte", idx({1}, {9}));
  }
  TemporaryFolder folder_;
};

TEST_F(SmallMnist, TrainingSamplesComeFirst) {
  const auto dataset = load("mnist", folder_.path());
  EXPECT_EQ(dataset->shape, (DataShape{DataShape::Kind::kImage, {1, 1, 2}, 10, 0}));
  EXPECT_THAT(dataset->labels, ElementsAre(7, 3, 9));
  EXPECT_THAT(std::get<AlignedVector<std::uint8_t>>(dataset->values),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(dataset->first_test, 2U);
}

TEST_F(SmallMnist, TheFirstSamplesAreKeptAndTheWholeTestSet) {
  const auto dataset = load("mnist", folder_.path(), 1);
  EXPECT_THAT(dataset->labels, ElementsAre(7, 9));
  EXPECT_THAT(std::get<AlignedVector<std::uint8_t>>(dataset->values), ElementsAre(1, 2, 5, 6));
  EXPECT_EQ(dataset->size(), 2U);
  EXPECT_EQ(dataset->first_test, 1U);
  EXPECT_EQ(load("mnist", folder_.path(), 2)->size(), 3U);
  try {
    load("mnist", folder_.path(), 3);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("data.samples = 3"), HasSubstr("has 2 samples")));
  }
}

TEST_F(SmallMnist, DamageIsHarmless) {
  expect_damage_is_harmless(folder_ / "train-images-idx3-ubyte", idx({2, 1, 2}, {1, 2, 3, 4}),
                            [&] { load("mnist", folder_.path()); });
}

TEST_F(SmallMnist, FilesThatDoNotFitTogetherAreNamed) {
  put(folder_ / "train-labels-idx1-ubyte", idx({3}, {7, 3, 1}));
  EXPECT_THAT(data_error([&] { load("mnist", folder_.path()); }),
              AllOf(HasSubstr("train-images"), HasSubstr("train-labels")));
}

class SmallCifar10 : public testing::Test {
 protected:
  SmallCifar10() : record_(1 + 3 * 1024) {
    record_[0] = 4;
    for (std::size_t i = 0; i < 3; ++i) record_[1 + i * 1024] = static_cast<std::uint8_t>(10 + i);
    for (const auto& file : cifar10().files) put(folder_ / file.name, record_);
  }
  std::string error() {
    return data_error([&] { load("cifar10", folder_.path()); });
  }
  TemporaryFolder folder_;
  FileBytes record_;
};

TEST_F(SmallCifar10, PlanesBecomePixels) {
  const auto dataset = load("cifar10", folder_.path());
  EXPECT_EQ(dataset->size(), 6U);
  EXPECT_EQ(dataset->first_test, 5U);
  const auto& values = std::get<AlignedVector<std::uint8_t>>(dataset->values);
  EXPECT_EQ(values.size(), 6U * 3072);
  EXPECT_THAT(std::vector<int>(values.begin(), values.begin() + 4), ElementsAre(10, 11, 12, 0));
  EXPECT_EQ(load("cifar10", folder_.path(), 3)->size(), 4U);
}

TEST_F(SmallCifar10, DamagedFilesAreNamed) {
  record_[0] = 10;
  put(folder_ / "data_batch_3.bin", record_);
  EXPECT_THAT(error(), AllOf(HasSubstr("data_batch_3.bin"), HasSubstr("label 0 is 10")));
  record_.pop_back();
  put(folder_ / "data_batch_2.bin", record_);
  EXPECT_THAT(error(), AllOf(HasSubstr("data_batch_2.bin"), HasSubstr("truncated")));
  std::filesystem::remove(folder_ / "data_batch_1.bin");
  EXPECT_THAT(error(), AllOf(HasSubstr("data_batch_1.bin"), HasSubstr("no such file")));
}

// The PNG form is made into the authors' form; whatever is missing or wrong there is named.
TEST_F(SmallCifar10, ConversionNamesWhatIsMissing) {
  const TemporaryFolder from, to;
  const auto convert = [&] { convert_cifar10(from.path(), to.path()); };
  EXPECT_THAT(data_error(convert), HasSubstr("train_lables.json"));
  for (const char* labels : {"[1,2", "{}", "[1,2,3]", ""}) {
    put(from / "train_lables.json", bytes_of(labels));
    put(from / "test_lables.json", bytes_of(labels));
    EXPECT_THAT(data_error(convert), HasSubstr("train_lables.json is damaged")) << labels;
  }
  put(from / "data_batch_1.bin", record_);
  EXPECT_THAT(data_error(convert), HasSubstr("data_batch_2.bin was not among"));
}

}  // namespace
}  // namespace lockstep
