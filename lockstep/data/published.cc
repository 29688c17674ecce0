#include "lockstep/data/published.h"

#include "lockstep/base/error.h"
#include "lockstep/data/dataset.h"

namespace lockstep {
namespace fs = std::filesystem;

fs::path Published::folder() const {
  return data_folder() / name;
}

std::uint64_t Published::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& file : files) sum += file.bytes;
  return sum;
}

bool Published::present() const {
  for (const auto& file : files) {
    std::error_code error;
    if (fs::file_size(folder() / file.name, error) != file.bytes || error) return false;
  }
  return true;
}

FileBytes read_published(const Published& published, const PublishedFile& file,
                         const fs::path& folder) {
  const fs::path path = folder / file.name;
  if (!fs::exists(path)) {
    throw DataError("{}: there is no such file; `lockstep data get {}` gets it", path.string(),
                    published.name);
  }
  FileBytes bytes = read_file(path);
  if (bytes.size() != file.bytes || sha256(bytes) != file.sha256) {
    throw DataError("{} is damaged: {}; `lockstep data get {}` gets it again", path.string(),
                    bytes.size() == file.bytes
                        ? "its checksum is not that of the published file"
                        : fmt::format("it has {} bytes instead of {}", bytes.size(), file.bytes),
                    published.name);
  }
  return bytes;
}

fs::path find_below(const fs::path& folder, const std::string& name) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() == name) return entry.path();
  }
  return {};
}

}  // namespace lockstep
