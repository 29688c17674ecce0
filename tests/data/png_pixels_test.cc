#include "lockstep/data/png_pixels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include "tests/data/damage.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

constexpr std::size_t kWidth = 5, kHeight = 3;

FileBytes pixels() {
  FileBytes rgb(kWidth * kHeight * 3);
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>(i * 5 + 1);
  return rgb;
}
FileBytes png() {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = kWidth;
  image.height = kHeight;
  image.format = PNG_FORMAT_RGB;
  FileBytes bytes(10000);
  png_alloc_size_t size = bytes.size();
  png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels().data(), 0, nullptr);
  bytes.resize(size);
  return bytes;
}

TEST(PngPixels, AreThoseThatWereWritten) {
  const TemporaryFolder folder;
  put(folder / "a.png", png());
  EXPECT_EQ(read_png(folder / "a.png", kWidth, kHeight).rgb, pixels());
}

TEST(PngPixels, OtherSizesAreRefused) {
  const TemporaryFolder folder;
  put(folder / "a.png", png());
  EXPECT_THAT(data_error([&] { read_png(folder / "a.png", kWidth + 1, kHeight); }),
              HasSubstr("is 5x3 pixels; 6x3"));
  EXPECT_THAT(data_error([&] { read_png(folder / "none.png", 1, 1); }), HasSubstr("none.png"));
}

TEST(PngPixels, DamageIsHarmless) {
  const TemporaryFolder folder;
  const FileBytes whole = png();
  // What is cut off after the last pixels is no loss: only 12 bytes that say "end".
  for (std::size_t size = 0; size + 12 < whole.size(); ++size) {
    put(folder / "a.png", FileBytes(whole.begin(), whole.begin() + static_cast<long>(size)));
    const std::string error =
        data_error([&] { EXPECT_EQ(read_png(folder / "a.png", kWidth, kHeight).rgb, pixels()); });
    if (size + 20 < whole.size()) {
      EXPECT_THAT(error, HasSubstr("a.png")) << size;
    }
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      FileBytes damaged = whole;
      damaged[i] ^= static_cast<std::uint8_t>(flip);
      put(folder / "a.png", damaged);
      data_error([&] { read_png(folder / "a.png", kWidth, kHeight); });
    }
  }
}

}  // namespace
}  // namespace lockstep
