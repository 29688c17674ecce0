// CIFAR-10 (Krizhevsky 2009): 60 000 colour photographs of 32×32 in ten classes.
#pragma once

#include <filesystem>

#include "lockstep/data/published.h"

namespace lockstep {

const Published& cifar10();

// Makes the authors' six .bin files in `to`: copies of those found below `from`, or made of the PNG
// form that the npm package has (cifar10_png.cc).
void convert_cifar10(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace lockstep
