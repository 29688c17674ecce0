#include "apps/live_report.h"

#include <fmt/format.h>

#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/experiment/found_runs.h"
#include "lockstep/experiment/report_page.h"
#include "lockstep/train/run_directory.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNothingYet =
    "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"2\">"
    "<title>Lockstep</title><p>There is no run yet. This page looks again every two seconds.</p>";

}  // namespace

std::uint64_t LiveReport::signature() const {
  std::string text = "runs";
  try {
    for (const NamedRun& run : find_runs(paths_).runs) {
      const RunPaths paths{run.path};
      for (const std::string& file : {paths.metrics(), paths.summary()}) {
        std::error_code error;
        const auto size = fs::file_size(file, error);
        const auto time = fs::last_write_time(file, error).time_since_epoch().count();
        text += fmt::format("\n{} {} {}", file, error ? 0 : size, error ? 0 : time);
      }
    }
  } catch (const std::exception& error) {
    text += error.what();
  }
  return stable_hash(text);
}

void LiveReport::refresh() {
  const std::uint64_t now = signature();
  if (now == made_from_) return;
  try {
    const Comparison comparison = compare(paths_, options_);
    page_ = report_page(comparison, true);
    data_ = page_data(comparison).dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const std::exception&) {  // no run yet, or one that is being written this very moment
    if (page_.empty()) page_ = kNothingYet;
  }
  made_from_ = now;
}

std::string LiveReport::page() {
  const std::lock_guard lock(mutex_);
  refresh();
  return page_;
}

std::string LiveReport::data() {
  const std::lock_guard lock(mutex_);
  refresh();
  return data_;
}

}  // namespace lockstep
