#include "lockstep/data/png_pixels.h"

#include <png.h>

#include "lockstep/base/error.h"

namespace lockstep {

PngPixels read_png(const std::filesystem::path& path, std::size_t width, std::size_t height) {
  const FileBytes bytes = read_file(path);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    throw DataError("{} is not a PNG file or is damaged: {}", path.string(), image.message);
  }
  if (image.width != width || image.height != height) {
    const auto wide = image.width, high = image.height;
    png_image_free(&image);
    throw DataError("{} is {}x{} pixels; {}x{} are expected", path.string(), wide, high, width,
                    height);
  }
  image.format = PNG_FORMAT_RGB;
  PngPixels pixels{width, height, FileBytes(width * height * 3)};
  // libpng frees the image whether it succeeds or not. A truncated file is a warning to it.
  const int done = png_image_finish_read(&image, nullptr, pixels.rgb.data(), 0, nullptr);
  if (done == 0 || (image.warning_or_error & PNG_IMAGE_ERROR) != 0) {
    throw DataError("{} is damaged or truncated: {}", path.string(), image.message);
  }
  return pixels;
}

}  // namespace lockstep
