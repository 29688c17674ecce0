#include "lockstep/train/timeline_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/base/text.h"
#include "lockstep/train/step_phases.h"
#include "lockstep/train/trace_file.h"

namespace lockstep {
namespace {

constexpr std::size_t kLongestWaits = 3;

std::int64_t whole_number(const Json& object, const char* key) {
  const Json& value = object.at(key);
  if (!value.is_number_integer()) throw DataError("{} is not a whole number", key);
  return value;
}

std::string phase_table(const WorkerLedger& all) {
  double step = 0;
  for (const StepPhase& phase : step_phases(all)) step += phase.seconds;
  std::vector<std::vector<std::string>> rows{{"of a step", "mean", "share"}};
  const auto add = [&](const char* name, double seconds) {
    rows.push_back({name, trim(format_seconds(seconds)),
                    fmt::format("{:.1f} %", step > 0 ? 100 * seconds / step : 0)});
  };
  for (const StepPhase& phase : step_phases(all)) {
    if (phase.seconds > 0) add(phase.name, phase.seconds);
  }
  add("all", step);
  return format_table(rows);
}

std::string hidden_line(const WorkerLedger& all) {
  if (all.hidden <= 0) return "";
  const double shown = all.communicating + all.waiting, steps = std::max(1.0, all.steps);
  const auto seconds = [&](double sum) { return trim(format_seconds(sum / steps)); };
  std::string text =
      fmt::format("hidden      {} a step, {:.0f} % of all communication, behind computing",
                  seconds(all.hidden), 100 * all.hidden / (all.hidden + shown));
  if (all.beside > 0) text += fmt::format("; of it {} of coding", seconds(all.beside));
  return text + "\n";
}

std::string slowest_line(const std::vector<WorkerLedger>& ledgers, const WorkerLedger& all) {
  if (ledgers.size() < 2 || all.steps == 0) return "";
  const auto pace = [](const WorkerLedger& one) {
    return one.steps > 0 ? one.computing / one.steps : 0;
  };
  const auto slowest = std::ranges::max_element(
      ledgers, [&](const auto& a, const auto& b) { return pace(a) < pace(b); });
  const double mean = all.computing / all.steps;
  return fmt::format("slowest     rank {}: computes {} a step, {:.0f} % more than the mean\n",
                     slowest - ledgers.begin(), trim(format_seconds(pace(*slowest))),
                     mean > 0 ? std::max(0.0, 100 * (pace(*slowest) / mean - 1)) : 0);
}

std::string longest_waits(const std::string& path) {
  std::vector<TracedEvent> waits = read_trace(path);
  std::erase_if(waits, [](const TracedEvent& event) {
    return event.lane || (!event.name.starts_with("wait") && !event.name.starts_with("average"));
  });
  const std::size_t shown = std::min(kLongestWaits, waits.size());
  std::ranges::partial_sort(waits, waits.begin() + static_cast<std::ptrdiff_t>(shown),
                            std::greater<>(), &TracedEvent::seconds);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{} {} by rank {} in step {}, {}\n", i == 0 ? "longest    " : "           ",
                        trim(format_seconds(waits[i].seconds)), waits[i].rank, waits[i].step,
                        waits[i].name);
  }
  return text;
}

}  // namespace

std::string timeline_summary(const RunPaths& run) {
  if (!std::filesystem::exists(run.summary())) {
    throw ConfigError("{} has no summary.json: the run is not finished", run.root);
  }
  std::string text;
  try {
    const Json summary = read_json(run.summary());
    const auto ledgers = ledgers_of(summary);
    const WorkerLedger all = sum_of(ledgers);
    const double seconds = summary.at("seconds");
    text = fmt::format("{}: {} workers, {} steps in {}\n\n{}\n", run.root,
                       whole_number(summary, "workers"), whole_number(summary, "steps"),
                       trim(format_seconds(seconds)), phase_table(all));
    text += hidden_line(all) + slowest_line(ledgers, all);
  } catch (const Json::exception& error) {
    throw DataError("{} cannot be read: {}", run.summary(), error.what());
  }
  if (std::filesystem::exists(run.timeline())) {
    text += longest_waits(run.timeline());
    text +=
        fmt::format("timeline    {}: open it in Perfetto or chrome://tracing\n", run.timeline());
  } else {
    text += "timeline    none; the longest waits are known after lockstep train --timeline\n";
  }
  return text;
}

}  // namespace lockstep
