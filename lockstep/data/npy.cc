#include "lockstep/data/npy.h"

#include <fmt/ranges.h>

#include <bit>
#include <fstream>
#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/data/files.h"
#include "lockstep/data/npy_header.h"

namespace lockstep {
namespace {

static_assert(std::endian::native == std::endian::little, ".npy elements are read as they lie");

std::string read_text(std::ifstream& in, std::size_t bytes, const std::string& name) {
  std::string text(bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  if (!in) throw DataError("{} cannot be read", name);
  return text;
}

template <typename T>
AlignedVector<T> read_elements(std::ifstream& in, const NpyHeader& header, std::uint64_t bytes,
                               const std::string& name) {
  std::uint64_t count = 1;
  for (const auto extent : header.shape) {
    const auto factor = static_cast<std::uint64_t>(extent);
    if (factor != 0 && count > std::numeric_limits<std::int64_t>::max() / sizeof(T) / factor) {
      throw DataError("{} is damaged: no file can hold the shape {}", name, to_text(header.shape));
    }
    count *= factor;
  }
  if (count * sizeof(T) != bytes) {
    throw DataError(
        "{} is damaged or truncated: shape {} of {} needs {} bytes of elements, it has {}", name,
        to_text(header.shape), header.type, count * sizeof(T), bytes);
  }
  AlignedVector<T> values(count);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
  if (!in) throw DataError("{} cannot be read", name);
  return values;
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& path) {
  const std::string name = path.string();
  const std::uint64_t size = size_of_file(path);
  std::ifstream in(path, std::ios::binary);
  const std::string prelude = read_text(in, std::min<std::uint64_t>(size, kNpyPreludeBytes), name);
  const std::size_t begin = npy_elements_begin(prelude, name);
  if (begin > size) throw DataError("{} is truncated within its header", name);
  in.seekg(0);
  const NpyHeader header = parse_npy_header(read_text(in, begin, name), name);
  if (header.fortran_order) {
    throw DataError("{} is in Fortran order; save it with np.ascontiguousarray", name);
  }
  NpyArray array{header.shape, {}};
  if (header.type == "<f4") {
    array.values = read_elements<float>(in, header, size - begin, name);
  } else if (header.type == "|u1") {
    array.values = read_elements<std::uint8_t>(in, header, size - begin, name);
  } else if (header.type == "<i8") {
    array.values = read_elements<std::int64_t>(in, header, size - begin, name);
  } else {
    throw DataError(
        "{} holds elements of type \"{}\"; float32 (\"<f4\"), uint8 (\"|u1\") and "
        "int64 (\"<i8\") can be read: convert it with astype",
        name, header.type);
  }
  return array;
}

void write_npy(const std::filesystem::path& path, std::span<const float> values,
               const NpyShape& shape) {
  std::size_t count = 1;
  for (const auto extent : shape) count *= static_cast<std::size_t>(extent);
  LOCKSTEP_CHECK(count == values.size(), "{} values for the shape {}", values.size(),
                 to_text(shape));
  const std::string begin = make_npy_header({"<f4", false, shape});
  write_file(path, {{reinterpret_cast<const std::uint8_t*>(begin.data()), begin.size()},
                    {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()}});
}

std::string to_text(const NpyShape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace lockstep
