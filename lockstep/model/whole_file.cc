#include "lockstep/model/whole_file.h"

#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/model/torch_error.h"

namespace lockstep {

void save_whole(const std::string& path, const std::function<void(const std::string&)>& write) {
  const std::string part = path + ".part";
  try {
    write(part);
    std::filesystem::rename(part, path);
  } catch (const std::exception& error) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw DataError("cannot write {}: {}", path, short_reason(error));
  }
}

}  // namespace lockstep
