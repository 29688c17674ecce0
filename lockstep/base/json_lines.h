// JSON lines: one object a line, written whole and flushed, so that a reader of a run that was
// killed finds every line but the last one complete.
#pragma once

#include <fstream>
#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace lockstep {

// Keeps keys in the order they were set: people read these lines too.
using Json = nlohmann::ordered_json;

class JsonLines {
 public:
  explicit JsonLines(std::ostream& out) : out_(&out) {}
  enum class Open { kTruncate, kAppend };  // kAppend drops a torn last line first
  explicit JsonLines(const std::string& path, Open mode = Open::kTruncate);  // DataError
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;

  void write(const Json& object);  // NaN and infinities become null, as JSON has neither

 private:
  std::ofstream file_;
  std::ostream* out_;
  std::string name_ = "a line of JSON";
};

// Every line of a file. A last line without an end of line is what a killed writer left: dropped.
// Anything else that is not a JSON object is a DataError that names file and line.
std::vector<Json> read_json_lines(const std::string& path);
// A file that is one JSON object, or a DataError.
Json read_json(const std::string& path);

}  // namespace lockstep
