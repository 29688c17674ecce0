// One image of the data set `shapes`: a figure of a class at any place, size and angle, in colours
// that say nothing about it, on a background with a gradient, specks and noise.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/random.h"

namespace lockstep {

inline constexpr int kShapeSide = 32;
inline constexpr std::size_t kShapeBytes = 3 * kShapeSide * kShapeSide;

std::vector<std::string> shape_names();  // of the classes

// Row, column, channel. `noise` is the deviation of a pixel as a share of the range. Only +, −, ×,
// ÷ and comparisons: the same bytes on every machine.
void draw_shape(std::size_t figure, double noise, Random random, std::span<std::uint8_t> image);

}  // namespace lockstep
