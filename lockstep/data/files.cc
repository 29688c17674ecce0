#include "lockstep/data/files.h"

#include <zlib.h>

#include <fstream>
#include <memory>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/sha256.h"

namespace lockstep {
namespace fs = std::filesystem;

std::uint64_t size_of_file(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) throw DataError("{}: there is no such file", path.string());
  if (!fs::is_regular_file(status)) throw DataError("{} is not a regular file", path.string());
  const auto size = fs::file_size(path, error);
  if (error) throw DataError("{} cannot be read: {}", path.string(), error.message());
  return size;
}

FileBytes read_file(const fs::path& path) {
  FileBytes bytes(size_of_file(path));
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in || static_cast<std::size_t>(in.gcount()) != bytes.size()) {
    throw DataError("{} cannot be read", path.string());
  }
  return bytes;
}

FileBytes read_gzip_or_plain(const fs::path& path, std::size_t most) {
  size_of_file(path);
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(path.c_str(), "rb"), gzclose_r);
  if (in == nullptr) throw DataError("{} cannot be read", path.string());
  constexpr std::size_t kStep = std::size_t{1} << 20;
  FileBytes bytes;
  while (true) {
    const std::size_t have = bytes.size();
    bytes.resize(have + kStep);
    const int got = gzread(in.get(), bytes.data() + have, kStep);
    bytes.resize(have + static_cast<std::size_t>(std::max(got, 0)));
    int error = Z_OK;
    gzerror(in.get(), &error);
    if (got < 0 || (error != Z_OK && error != Z_STREAM_END)) {
      throw DataError("{} is damaged or truncated: it does not unpack", path.string());
    }
    if (bytes.size() > most) {
      throw DataError("{} is too large: it holds more than {} bytes", path.string(), most);
    }
    if (got == 0) return bytes;
  }
}

void write_file(const fs::path& path, std::initializer_list<std::span<const std::uint8_t>> parts) {
  AtomicFile file(path.string());
  for (const auto bytes : parts) file.append(std::as_bytes(bytes));
  file.commit();
}

std::string sha256(std::span<const std::uint8_t> bytes) {
  return to_hex(sha256(std::as_bytes(bytes)));
}

}  // namespace lockstep
