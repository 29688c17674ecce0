#include "lockstep/data/idx.h"

#include <cstring>

#include "lockstep/base/error.h"

namespace lockstep {

IdxArray parse_idx(const FileBytes& bytes, const std::string& name) {
  constexpr std::uint8_t kUnsignedBytes = 8;
  constexpr std::size_t kMostDimensions = 8;
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) {
    throw DataError("{} is not an IDX file", name);
  }
  if (bytes[2] != kUnsignedBytes) {
    throw DataError("{}: elements of type {} in an IDX file; only bytes (type 8) can be read", name,
                    bytes[2]);
  }
  const std::size_t dimensions = bytes[3];
  if (dimensions == 0 || dimensions > kMostDimensions) {
    throw DataError("{} is damaged: an IDX file of {} dimensions", name, dimensions);
  }
  const std::size_t begin = 4 + 4 * dimensions;
  if (bytes.size() < begin) throw DataError("{} is truncated within its header", name);
  IdxArray array;
  std::size_t count = 1;
  const std::size_t have = bytes.size() - begin;
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::size_t extent = 0;
    for (std::size_t i = 0; i < 4; ++i) extent = extent << 8 | bytes[4 + 4 * d + i];
    // Extents that the file cannot hold are refused before their product can overflow.
    if (extent == 0 || extent > have / count) {
      throw DataError(
          "{} is damaged or truncated: extent {} of dimension {} does not fit its {} bytes", name,
          extent, d, have);
    }
    count *= extent;
    array.shape.push_back(extent);
  }
  if (count != have) {
    throw DataError("{} is damaged: its shape needs {} bytes, it has {}", name, count, have);
  }
  array.values.resize(count);
  std::memcpy(array.values.data(), bytes.data() + begin, count);
  return array;
}

}  // namespace lockstep
