#include "lockstep/base/json_lines.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <ostream>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"

namespace lockstep {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 32;

// Cuts off what a killed writer left of its last line; a line appended to it would be lost too.
void drop_torn_line(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return;
  const std::string text = read_text_file(path, kMostBytes);
  const auto end = text.rfind('\n');
  const std::size_t whole = end == std::string::npos ? 0 : end + 1;
  if (whole == text.size()) return;
  std::error_code error;
  std::filesystem::resize_file(path, whole, error);
  if (error) throw DataError("cannot write {}: {}", path, error.message());
}

}  // namespace

JsonLines::JsonLines(const std::string& path, Open mode) : out_(&file_), name_(path) {
  if (mode == Open::kAppend) drop_torn_line(path);
  file_.open(path, mode == Open::kAppend ? std::ios::app : std::ios::trunc);
  if (!file_) throw DataError("cannot write {}: {}", path, std::strerror(errno));
}

void JsonLines::write(const Json& object) {
  *out_ << object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" << std::flush;
  if (!*out_) throw DataError("cannot write {}: {}", name_, std::strerror(errno));
}

std::vector<Json> read_json_lines(const std::string& path) {
  const std::string text = read_text_file(path, kMostBytes);
  std::vector<Json> lines;
  std::size_t begin = 0;
  for (int number = 1;; ++number) {
    const auto end = text.find('\n', begin);
    if (end == std::string::npos) return lines;
    if (end > begin) {
      Json object = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
      if (!object.is_object()) throw DataError("{}:{}: not a JSON object", path, number);
      lines.push_back(std::move(object));
    }
    begin = end + 1;
  }
}

Json read_json(const std::string& path) {
  Json object = Json::parse(read_text_file(path, kMostBytes), nullptr, false);
  if (!object.is_object()) throw DataError("{} is not a JSON object", path);
  return object;
}

}  // namespace lockstep
