#include "lockstep/data/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/damage.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const FileBytes kImages = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 10, 11, 12, 13};

TEST(Idx, ReadsShapeAndBytes) {
  const IdxArray array = parse_idx(kImages, "images");
  EXPECT_THAT(array.shape, ElementsAre(2, 1, 2));
  EXPECT_THAT(array.values, ElementsAre(10, 11, 12, 13));
}

TEST(Idx, SaysWhatIsWrong) {
  const auto error_of = [](FileBytes bytes) {
    return data_error([&] { parse_idx(bytes, "the file"); });
  };
  EXPECT_THAT(error_of({}), HasSubstr("the file is not an IDX file"));
  EXPECT_THAT(error_of({0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0}), HasSubstr("type 13"));
  EXPECT_THAT(error_of({0, 0, 8, 0}), HasSubstr("0 dimensions"));
  EXPECT_THAT(error_of({0, 0, 8, 1, 0, 0}), HasSubstr("truncated"));
  EXPECT_THAT(error_of({0, 0, 8, 1, 0, 0, 0, 1, 5, 6}), HasSubstr("needs 1 bytes, it has 2"));
  // 2^32 − 1 cubed would overflow.
  FileBytes huge = {0, 0, 8, 3};
  huge.resize(4 + 12 + 1, 255);
  EXPECT_THAT(error_of(huge), HasSubstr("does not fit"));
}

TEST(Idx, DamageIsHarmless) {
  const TemporaryFolder folder;
  const std::string path = folder / "images";
  expect_damage_is_harmless(path, kImages,
                            [&] { parse_idx(read_gzip_or_plain(path, 1000), path); });
}

}  // namespace
}  // namespace lockstep
