#include "lockstep/experiment/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"
#include "lockstep/experiment/found_runs.h"
#include "lockstep/train/config.h"

namespace lockstep {
namespace {

using Settings = std::map<std::string, std::string>;

Settings without_seed(Settings settings) {
  settings.erase("train.seed");
  return settings;
}

// Runs of a sweep go by its cells, others by their settings.
void put_into_lines(std::vector<NamedRun> runs, Comparison& comparison) {
  std::vector<Settings> of_lines;
  std::set<std::filesystem::path> seen;
  for (NamedRun& run : runs) {
    std::error_code error;
    if (!seen.insert(std::filesystem::weakly_canonical(run.path, error)).second) continue;
    RunRecord record;
    try {
      record = read_run_record(run.path);
    } catch (const Error& damage) {
      comparison.remarks.push_back(fmt::format("{} was left out: {}", run.path, damage.what()));
      continue;
    }
    if (!record.complete) {
      comparison.remarks.push_back(fmt::format(
          "{} is not finished: its curve is shown, its results do not count", run.path));
    }
    const Settings settings = without_seed(record.settings);
    std::size_t at = 0;
    while (at < comparison.lines.size() &&
           (run.cell.empty() ? of_lines[at] != settings : comparison.lines[at].label != run.cell)) {
      ++at;
    }
    if (at == comparison.lines.size()) {
      Line line;
      line.label = run.cell;
      line.labels = run.labels;
      comparison.lines.push_back(std::move(line));
      of_lines.push_back(settings);
    }
    auto& line = comparison.lines[at].runs;
    const auto twin = std::ranges::find(line, record.seed, &RunRecord::seed);
    if (twin == line.end()) {
      line.push_back(std::move(record));
      continue;
    }
    if (record.complete && !twin->complete) std::swap(record, *twin);  // the one that is finished
    comparison.remarks.push_back(fmt::format(
        "{} was left out: another run has the same settings and seed, and would count twice",
        record.path));
  }
}

// Which settings differ between the lines, and which of the rest are not what they are by default.
void find_differences(Comparison& comparison) {
  std::set<std::string> keys;
  for (const Line& line : comparison.lines) {
    for (const auto& [key, value] : line.runs.front().settings) keys.insert(key);
  }
  keys.erase("train.seed");
  const Config defaults;
  for (const std::string& key : keys) {
    const auto value_in = [&](const Line& line) {
      const Settings& settings = line.runs.front().settings;
      const auto found = settings.find(key);
      return found == settings.end() ? std::string() : found->second;
    };
    const std::string first = value_in(comparison.lines.front());
    const bool same = std::ranges::all_of(
        comparison.lines, [&](const Line& line) { return value_in(line) == first; });
    if (!same) {
      for (Line& line : comparison.lines) {
        if (const std::string value = value_in(line); !value.empty()) {
          line.differences.push_back({key, value});
        }
      }
      continue;
    }
    std::optional<std::string> usual;  // nothing: of a component that is not chosen by default
    try {
      const auto dot = key.find('.');
      usual = defaults.at(key.substr(0, dot)).text_of(key.substr(dot + 1));
    } catch (const ConfigError&) {
    }
    if (first != usual) comparison.common.push_back({key, first});
  }
}

// Each its own: runs of two directories may be called alike.
void name_lines(Comparison& comparison) {
  std::set<std::string> taken;
  for (const Line& line : comparison.lines) taken.insert(line.label);
  for (Line& line : comparison.lines) {
    if (!line.label.empty()) continue;
    std::vector<std::string> parts;
    for (const Setting& one : line.differences) {
      parts.push_back(fmt::format("{}={}", short_name(one.key), one.value));
    }
    constexpr std::size_t kMostParts = 4;
    const std::string& path = line.runs.front().path;
    line.label = parts.empty() || parts.size() > kMostParts
                     ? std::filesystem::path(path).filename().string()
                     : fmt::format("{}", fmt::join(parts, " "));
    if (!taken.insert(line.label).second) line.label = path;
  }
}

// By their order: runs with one configuration validate at the same steps.
std::vector<BandPoint> band_of(const std::vector<RunRecord>& runs) {
  std::size_t longest = 0;
  for (const RunRecord& run : runs) longest = std::max(longest, run.curve.size());
  std::vector<BandPoint> band;
  for (std::size_t i = 0; i < longest; ++i) {
    BandPoint point;
    std::vector<double> accuracies;
    for (const RunRecord& run : runs) {
      if (i >= run.curve.size()) continue;
      const CurvePoint& one = run.curve[i];
      point.epoch += one.epoch;
      point.samples += one.samples;
      point.seconds += one.seconds;
      point.bytes += one.bytes;
      accuracies.push_back(one.accuracy);
    }
    const auto n = static_cast<double>(accuracies.size());
    for (double* mean : {&point.epoch, &point.samples, &point.seconds, &point.bytes}) *mean /= n;
    const Spread spread = spread_of(accuracies);
    point.mean = spread.mean;
    point.std = spread.sample_std;
    band.push_back(point);
  }
  return band;
}

void summarise(Line& line, const Comparison& comparison) {
  line.band = band_of(line.runs);
  std::vector<double> accuracies, seconds, bytes;
  std::vector<double> target_seconds, target_samples, target_bytes;
  for (const RunRecord& run : line.runs) {
    if (!run.complete) continue;
    if (const auto accuracy = run.accuracy(comparison.metric)) {
      accuracies.push_back(100 * *accuracy);
    }
    seconds.push_back(run.seconds);
    bytes.push_back(run.bytes);
    if (comparison.target <= 0) continue;
    if (const auto point = run.reaching(comparison.target / 100)) {
      target_seconds.push_back(point->seconds);
      target_samples.push_back(point->samples);
      target_bytes.push_back(point->bytes);
    }
  }
  line.accuracy = spread_of(accuracies);
  line.seconds = spread_of(seconds);
  line.bytes = spread_of(bytes);
  line.to_target = {target_seconds.size(), spread_of(target_seconds), spread_of(target_samples),
                    spread_of(target_bytes)};
}

bool have_epochs_alike(const std::vector<Line>& lines) {
  double least = std::numeric_limits<double>::max(), most = 0;
  for (const Line& line : lines) {
    if (line.band.empty() || line.band.back().epoch <= 0) continue;
    const double samples = line.band.back().samples / line.band.back().epoch;
    least = std::min(least, samples);
    most = std::max(most, samples);
  }
  constexpr double kRoundingUp = 1.1;  // the last step of an epoch may be short, or not
  return most <= kRoundingUp * least;
}

void choose_baseline(const std::vector<std::string>& of_sweep, Comparison& comparison) {
  const std::string& wanted = comparison.options.baseline;
  for (std::size_t i = 0; i < comparison.lines.size(); ++i) {
    const Line& line = comparison.lines[i];
    if (wanted.empty() ? !of_sweep.empty() && line.labels == of_sweep : line.label == wanted) {
      comparison.baseline = i;
      return;
    }
  }
  if (wanted.empty()) return;  // the first
  std::vector<std::string> labels;
  for (const Line& line : comparison.lines) labels.push_back(line.label);
  throw ConfigError("{}", unknown_name("line", wanted, labels));
}

void test_lines(Comparison& comparison) {
  const ComparisonOptions& options = comparison.options;
  const Spread& base = comparison.lines[comparison.baseline].accuracy;
  std::vector<Line*> tested;
  std::vector<double> p;
  for (std::size_t i = 0; i < comparison.lines.size(); ++i) {
    Line& line = comparison.lines[i];
    if (i == comparison.baseline) continue;
    const TestResult test = t_test(line.accuracy, base, options.test, options.tail);
    if (!test.possible) continue;
    line.against_baseline = Verdict{test, 1, effect_size(line.accuracy, base)};
    tested.push_back(&line);
    p.push_back(test.p);
  }
  const std::vector<double> corrected = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    tested[i]->against_baseline->corrected = corrected[i];
  }
}

void add_published(const std::vector<PublishedResult>& published, Comparison& comparison) {
  for (Line& line : comparison.lines) {
    const auto found = std::ranges::find(published, line.labels, &PublishedResult::at);
    if (line.labels.empty() || found == published.end()) continue;
    line.published = *found;
    const TestResult test =
        t_test(line.accuracy,
               published_spread(found->runs, found->mean, found->std, Deviation::kPopulation),
               comparison.options.test, Tail::kTwo);
    if (test.possible && found->std > 0) line.against_published = test;
  }
}

}  // namespace

Comparison compare(const std::vector<std::string>& paths, const ComparisonOptions& options) {
  RunsFound found = find_runs(paths);
  Comparison comparison;
  comparison.options = options;
  comparison.title = found.title;
  comparison.text = found.text;
  comparison.axes = found.axes;
  comparison.metric = options.metric.value_or(found.metric);
  comparison.target = options.target.value_or(found.target);
  put_into_lines(std::move(found.runs), comparison);
  if (comparison.lines.empty()) {
    throw ConfigError("there is no run in {}{}", fmt::join(paths, ", "),
                      comparison.remarks.empty() ? "" : "; " + comparison.remarks.front());
  }
  find_differences(comparison);
  name_lines(comparison);
  for (Line& line : comparison.lines) summarise(line, comparison);
  comparison.epochs_alike = have_epochs_alike(comparison.lines);
  choose_baseline(found.baseline, comparison);
  test_lines(comparison);
  add_published(found.published, comparison);
  return comparison;
}

}  // namespace lockstep
