#include "lockstep/base/this_program.h"

#include <filesystem>

#include "lockstep/base/error.h"

namespace lockstep {

std::string this_program() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw DataError("cannot find this program's own file: {}", error.message());
  return path;
}

}  // namespace lockstep
