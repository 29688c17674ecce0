#include "lockstep/train/arrival_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/train/run_directory.h"

namespace lockstep {

bool wants_arrivals(const Job& job) {
  return job.has_server() ? !job.traits().averages : job.traits().inbox;
}

void append_arrivals(const std::string& path, std::int64_t step, const ArrivalRecord& record) {
  bool any = false;
  for (const auto& place : record) any |= !place.empty();
  if (!any) return;
  JsonLines(path, JsonLines::Open::kAppend).write({{"step", step}, {"places", record}});
}

void cut_arrivals(const std::string& path, std::int64_t step) {
  cut_metrics(path, step);
}

ArrivalRecord read_arrivals(const std::string& path, int places, int workers) {
  if (!std::filesystem::exists(path)) {
    throw DataError("{} does not exist: only asynchronous runs have a record to replay", path);
  }
  constexpr std::size_t kMost = std::size_t{1} << 32;
  std::istringstream text(read_text_file(path, kMost));
  ArrivalRecord all(static_cast<std::size_t>(places));
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    const Json entry = Json::parse(line, nullptr, false);
    const auto bad = [&](const char* what) {
      return DataError("{}:{} is no record of arrivals: {}", path, number, what);
    };
    if (!entry.is_object() || !entry.contains("places") || !entry["places"].is_array()) {
      throw bad("it has no places");
    }
    if (entry["places"].size() != all.size()) throw bad("it has another number of places");
    for (std::size_t place = 0; place < all.size(); ++place) {
      if (!entry["places"][place].is_array()) throw bad("a place is no list");
      for (const Json& worker : entry["places"][place]) {
        if (!worker.is_number_integer() || worker.get<std::int64_t>() < 0 ||
            worker.get<std::int64_t>() >= workers) {
          throw bad("a worker is not one of the run's");
        }
        all[place].push_back(worker.get<int>());
      }
    }
  }
  return all;
}

}  // namespace lockstep
