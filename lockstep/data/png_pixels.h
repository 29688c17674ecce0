// A PNG file as pixels: 8-bit red, green, blue, whatever the file holds.
#pragma once

#include <cstdint>
#include <filesystem>

#include "lockstep/data/files.h"

namespace lockstep {

struct PngPixels {
  std::size_t width = 0, height = 0;
  FileBytes rgb;  // row, column, channel
};

// A DataError names the file if it is no PNG, damaged, truncated, or not of this size: a few
// damaged bytes must not ask for gigabytes.
PngPixels read_png(const std::filesystem::path& path, std::size_t width, std::size_t height);

}  // namespace lockstep
