// Arrays in NumPy's .npy format: a magic number, a Python dictionary as text that says element type
// and shape, the elements. Element types float32, uint8 and int64; C order only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lockstep/base/aligned.h"

namespace lockstep {

using NpyShape = std::vector<std::int64_t>;

struct NpyArray {
  NpyShape shape;
  std::variant<AlignedVector<std::uint8_t>, AlignedVector<float>, AlignedVector<std::int64_t>>
      values;
};

// A DataError names the file and what is wrong with it: nothing is allocated before the shape has
// been held against the size of the file.
NpyArray read_npy(const std::filesystem::path& path);

// Writes float32; np.load reads it. The file appears whole or not at all.
void write_npy(const std::filesystem::path& path, std::span<const float> values,
               const NpyShape& shape);

std::string to_text(const NpyShape& shape);  // "(3, 32, 32)", as NumPy has it

}  // namespace lockstep
