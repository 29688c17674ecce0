#include "lockstep/train/run_log.h"

#include <cerrno>
#include <cstring>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

// A killed writer may have left half a line; the next one should not be joined to it.
bool ends_within_a_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() <= 0) return false;
  file.seekg(-1, std::ios::end);
  return file.get() != '\n';
}

}  // namespace

RunLog::RunLog(const std::string& path) : path_(path) {
  const bool torn = ends_within_a_line(path);
  file_.open(path, std::ios::app);
  if (!file_) throw DataError("cannot write {}: {}", path, std::strerror(errno));
  if (torn) file_ << '\n';
}

void RunLog::write(double seconds, std::string_view text) {
  std::string lines = fmt::format("{:11.3f} s  ", seconds);
  const std::string indent(lines.size(), ' ');
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += indent;
  }
  file_ << lines + "\n" << std::flush;
  if (!file_) throw DataError("cannot write {}: {}", path_, std::strerror(errno));
}

}  // namespace lockstep
