#include "lockstep/experiment/found_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/experiment/sweep_directory.h"
#include "lockstep/train/run_directory.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders_in(const fs::path& path) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory(error)) folders.push_back(it->path());
  }
  std::ranges::sort(folders);
  return folders;
}

// Folder names come from a file: nothing outside the sweep may be meant by them.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

// `prefix`: tells its cells from those of other sweeps.
void add_sweep(const std::string& root, const std::string& prefix, RunsFound& found) {
  const std::string file = SweepDirectory::sweep_file(root);
  try {
    const Json sweep = read_json(file);
    found.title = sweep.at("title").get<std::string>();
    if (found.title.empty()) found.title = sweep.at("name").get<std::string>();
    found.text = sweep.at("text").get<std::string>();
    found.metric =
        metric_named(sweep.at("metric").get<std::string>()).value_or(Metric::kValidation);
    found.target = sweep.at("target").get<double>();
    found.baseline = sweep.at("baseline").get<std::vector<std::string>>();
    found.axes.clear();
    for (const Json& axis : sweep.at("axes")) found.axes.push_back(axis.at("name"));
    for (const Json& one : sweep.at("published")) {
      found.published.push_back({.at = one.at("at").get<std::vector<std::string>>(),
                                 .mean = one.at("mean"),
                                 .std = one.at("std"),
                                 .runs = one.at("runs")});
    }
    for (const Json& cell : sweep.at("cells")) {
      const auto labels = cell.at("labels").get<std::vector<std::string>>();
      const auto folder = cell.at("folder").get<std::string>();
      if (!is_plain_name(folder) || labels.size() != found.axes.size()) {
        throw DataError("{} has a cell that is none", file);
      }
      std::vector<std::string> parts;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::string& axis = found.axes[i];
        parts.push_back(fmt::format("{}={}", short_name(axis), labels[i]));
      }
      const std::string title =
          prefix + (parts.empty() ? found.title : fmt::format("{}", fmt::join(parts, ", ")));
      for (const std::int64_t seed : sweep.at("seeds").get<std::vector<std::int64_t>>()) {
        const std::string path = fmt::format("{}/cells/{}/seed-{}", root, folder, seed);
        if (is_run(path)) found.runs.push_back({path, title, labels});
      }
    }
  } catch (const Json::exception& error) {
    throw DataError("{} cannot be read: {}", file, error.what());
  }
}

}  // namespace

RunsFound find_runs(const std::vector<std::string>& given) {
  RunsFound found;
  std::vector<std::string> paths;
  for (std::string path : given) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
  }
  for (const std::string& path : paths) {
    if (SweepDirectory::is_sweep(path)) {
      add_sweep(path, paths.size() > 1 ? path + ": " : "", found);
    } else if (is_run(path)) {
      found.runs.push_back({path, "", {}});
    } else if (std::error_code error; !fs::is_directory(path, error)) {
      throw ConfigError("{} is no directory of a run or a sweep", path);
    } else {
      for (const fs::path& folder : folders_in(path)) {
        if (is_run(folder.string())) found.runs.push_back({folder.string(), "", {}});
      }
    }
  }
  // What a sweep says of itself holds for its own runs only.
  if (paths.size() == 1) return found;
  found.title.clear();
  found.text.clear();
  found.axes.clear();
  found.baseline.clear();
  found.published.clear();
  found.metric = Metric::kValidation;
  found.target = 0;
  return found;
}

}  // namespace lockstep
