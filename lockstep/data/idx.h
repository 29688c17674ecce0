// The IDX format of MNIST: a magic number that says element type and dimensions, the extents as
// big-endian numbers, the elements. Bytes only, plain or gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lockstep/data/files.h"

namespace lockstep {

struct IdxArray {
  std::vector<std::size_t> shape;
  FileBytes values;
};

// `name` names the file in a DataError.
IdxArray parse_idx(const FileBytes& bytes, const std::string& name);

}  // namespace lockstep
