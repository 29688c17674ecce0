#include "lockstep/data/dataset.h"

#include <cstdlib>

namespace lockstep {

template <>
Registry<DatasetSource>& Registry<DatasetSource>::instance() {
  static Registry<DatasetSource> registry("data", "data set");
  return registry;
}

std::filesystem::path data_folder() {
  if (const char* folder = std::getenv("LOCKSTEP_DATA"); folder != nullptr && *folder != '\0') {
    return folder;
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::filesystem::path(home) / ".cache" / "lockstep";
  }
  throw ConfigError("neither LOCKSTEP_DATA nor HOME is set: where should data sets be kept?");
}

}  // namespace lockstep
