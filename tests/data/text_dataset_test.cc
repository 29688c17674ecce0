#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/data/dataset.h"
#include "tests/data/damage.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<const Dataset> load(const std::string& file, int length, int stride, double test) {
  auto& registry = Registry<DatasetSource>::instance();
  Options options = registry.options("text");
  options.set_value("file", file);
  options.set_value("length", std::int64_t{length});
  options.set_value("stride", std::int64_t{stride});
  options.set_value("test", test);
  return registry.make("text", options)->load();
}

TEST(TextDataset, NumbersCharactersByTheirByte) {
  const TemporaryFolder folder;
  put(folder / "t", bytes_of("banana\xff\n"));
  const auto dataset = load(folder / "t", 2, 0, 0);
  EXPECT_THAT(dataset->class_names, ElementsAre("\n", "a", "b", "n", "\xff"));
  EXPECT_THAT(std::get<AlignedVector<std::uint8_t>>(dataset->values),
              ElementsAre(2, 1, 3, 1, 3, 1, 4, 0));
  EXPECT_EQ(dataset->shape.vocabulary, 5);
  EXPECT_EQ(dataset->shape.classes, 5);
  EXPECT_EQ(dataset->shape.labels_per_sample(), 2U);
}

// Each window and the character after it lie in the text, and one more window would not.
TEST(TextDataset, WindowsFillTheTextAndNoMore) {
  const TemporaryFolder folder;
  for (std::size_t size = 5; size < 30; ++size) {
    put(folder / "t", FileBytes(size, 'x'));
    for (const int stride : {0, 1, 3, 7}) {
      const auto dataset = load(folder / "t", 4, stride, 0.25);
      EXPECT_EQ(dataset->stride, stride == 0 ? 4U : static_cast<std::size_t>(stride));
      EXPECT_LE((dataset->samples - 1) * dataset->stride + 4 + 1, size);
      EXPECT_GT(dataset->samples * dataset->stride + 4 + 1, size);
      EXPECT_EQ(dataset->samples - dataset->first_test, dataset->samples / 4);
    }
  }
}

TEST(TextDataset, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  put(folder / "t", bytes_of("abcd"));
  EXPECT_THAT(data_error([&] { load(folder / "t", 4, 0, 0); }),
              testing::AllOf(HasSubstr("has 4 characters"), HasSubstr("needs 5")));
  EXPECT_THAT(data_error([&] { load(folder / "none", 4, 0, 0); }), HasSubstr("none"));
  EXPECT_THROW(load("", 4, 0, 0), ConfigError);
}

}  // namespace
}  // namespace lockstep
