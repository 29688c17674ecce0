#include "lockstep/train/arrival_file.h"

#include <algorithm>
#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/train/crc32c.h"
#include "lockstep/train/run_directory.h"

namespace lockstep {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 32;  // bytes of a file

void append(const std::string& path, const Json& line) {
  JsonLines(path, JsonLines::Open::kAppend).write(line);
}

// Reads one line of places into `all`. What is wrong with it, or "".
std::string add_places(const Json& places, int workers, ArrivalRecord& all) {
  if (!places.is_array()) return "it has no places";
  if (places.size() != all.size()) return "it has another number of places";
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!places[i].is_array()) return "a place is no list";
    for (const Json& worker : places[i]) {
      if (!worker.is_number_integer() || worker.get<std::int64_t>() < 0 ||
          worker.get<std::int64_t>() >= workers) {
        return "a worker is not one of the run's";
      }
      all[i].push_back(worker.get<int>());
    }
  }
  return "";
}

}  // namespace

bool wants_arrivals(const Job& job) {
  return job.has_server() ? !job.traits().averages : job.traits().inbox;
}

void append_arrivals(const std::string& path, std::int64_t step, const ArrivalRecord& record) {
  bool any = false;
  for (const auto& place : record) any |= !place.empty();
  if (any) append(path, {{"step", step}, {"places", record}});
}

void end_arrivals(const std::string& path, std::int64_t step) {
  const std::string before = std::filesystem::exists(path) ? read_text_file(path, kMost) : "";
  append(path, {{"step", step}, {"end", true}, {"crc32c", crc32c(before)}});
}

void cut_arrivals(const std::string& path, std::int64_t step) {
  cut_metrics(path, step);
  std::error_code none;
  if (const auto bytes = std::filesystem::file_size(path, none); none || bytes == 0) return;
  append(path, {{"step", step}, {"resumed", true}});
}

ArrivalRecord read_arrivals(const std::string& path, int places, int workers) {
  if (!std::filesystem::exists(path)) {
    throw DataError(
        "{} does not exist: only runs whose workers do not wait for each other have a record to "
        "replay",
        path);
  }
  const std::string text = read_text_file(path, kMost);
  ArrivalRecord all(static_cast<std::size_t>(places));
  bool ended = false;
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    std::string wrong = line.is_object() ? "" : "it is no JSON object";
    ended = line.is_object() && line.contains("end");
    if (line.is_object() && line.contains("resumed")) {
      throw ConfigError(
          "{} cannot be replayed: the run was stopped and resumed after step {}, and only a run in "
          "one sitting can be repeated",
          path, line.value("step", Json(nullptr)).dump());
    }
    if (ended) {
      const bool right = line.value("crc32c", Json(nullptr)) == Json(crc32c(text.substr(0, begin)));
      if (!right) wrong = "the lines before it have another checksum";
    } else if (wrong.empty()) {
      wrong = add_places(line.value("places", Json(nullptr)), workers, all);
    }
    if (!wrong.empty()) throw DataError("{}:{} is no record of arrivals: {}", path, number, wrong);
    begin = end + 1;
  }
  if (!ended) {
    throw ConfigError("{} cannot be replayed: the run has not come to its end", path);
  }
  return all;
}

}  // namespace lockstep
