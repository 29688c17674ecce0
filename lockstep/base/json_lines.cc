#include "lockstep/base/json_lines.h"

#include <cerrno>
#include <cstring>
#include <iterator>
#include <ostream>

#include "lockstep/base/error.h"

namespace lockstep {

JsonLines::JsonLines(const std::string& path, Open mode)
    : file_(path, mode == Open::kAppend ? std::ios::app : std::ios::trunc), out_(&file_) {
  if (!file_) throw DataError("cannot write {}: {}", path, std::strerror(errno));
}

void JsonLines::write(const Json& object) {
  *out_ << object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" << std::flush;
  if (!*out_) throw DataError("cannot write a line of JSON: {}", std::strerror(errno));
}

std::vector<Json> read_json_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw DataError("cannot read {}: {}", path, std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
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

}  // namespace lockstep
