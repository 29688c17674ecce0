#include "lockstep/experiment/run_record.h"

#include <algorithm>
#include <filesystem>

#include "lockstep/base/error.h"
#include "lockstep/train/config.h"
#include "lockstep/train/run_directory.h"

namespace lockstep {
namespace {

// 0 where there is none. Nothing that is measured lies beyond the limits.
double number(const Json& object, const char* key, double most = 1e18) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  const double value = *found;
  if (!(value >= 0 && value <= most)) {
    throw DataError("{} is {}; it must be from 0 to {}", key, value, most);
  }
  return value;
}

std::map<std::string, std::string> settings_of(const std::string& path) {
  Config config;
  config.read_file(path);
  std::map<std::string, std::string> settings;
  for (const SectionKind& kind : section_kinds()) {
    const Section& section = config.at(kind.name);
    if (kind.catalogue != nullptr) settings[kind.name + "." + kind.selector] = section.chosen();
    for (const Options* options : {&section.own(), &section.options()}) {
      for (const Option& option : options->declared().all()) {
        settings[kind.name + "." + option.name()] = section.text_of(option.name());
      }
    }
  }
  return settings;
}

bool has_number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number();
}

void read_metrics(const std::string& path, RunRecord& record) {
  if (std::error_code error; !std::filesystem::exists(path, error)) return;
  double validated = -1;  // at which step
  for (const Json& line : read_json_lines(path)) {
    record.seconds = std::max(record.seconds, number(line, "seconds"));
    record.samples = std::max(record.samples, number(line, "samples"));
    record.bytes = std::max(record.bytes, number(line, "bytes"));
    record.epochs = std::max(record.epochs, number(line, "epoch"));
    // An accuracy that is no number is written as null.
    if (has_number(line, "test_accuracy")) record.test = number(line, "test_accuracy", 1);
    if (!has_number(line, "validation_accuracy")) continue;
    const CurvePoint point{number(line, "epoch"), number(line, "samples"), number(line, "seconds"),
                           number(line, "bytes"), number(line, "validation_accuracy", 1)};
    // A run that is taken up again after its end, to go further, validates there once more.
    const double step = number(line, "step");
    if (step != validated) record.curve.emplace_back();
    validated = step;
    record.curve.back() = point;
  }
}

void read_summary(const std::string& path, RunRecord& record) {
  if (std::error_code error; !std::filesystem::exists(path, error)) return;
  try {
    const Json summary = read_json(path);
    record.seconds = number(summary, "seconds");
    record.samples = number(summary, "samples");
    record.bytes = number(summary, "bytes");
    record.epochs = number(summary, "epochs");
    record.phases = step_phases(sum_of(ledgers_of(summary)));
  } catch (const Json::exception& error) {
    throw DataError("{} cannot be read: {}", path, error.what());
  }
  record.complete = true;
}

}  // namespace

std::optional<double> RunRecord::final_validation() const {
  if (curve.empty()) return {};
  return curve.back().accuracy;
}

std::optional<double> RunRecord::accuracy(Metric metric) const {
  switch (metric) {
    case Metric::kBest:
      return best;
    case Metric::kTest:
      return test;
    case Metric::kValidation:
      break;
  }
  return final_validation();
}

std::optional<CurvePoint> RunRecord::reaching(double target) const {
  const auto found =
      std::ranges::find_if(curve, [&](const CurvePoint& p) { return p.accuracy >= target; });
  if (found == curve.end()) return {};
  return *found;
}

RunRecord read_run_record(const std::string& path) {
  const RunPaths paths = find_run(path);
  RunRecord record;
  record.path = paths.root;
  record.settings = settings_of(paths.config());
  const std::string& seed = record.settings["train.seed"];
  record.seed = seed.empty() ? 0 : std::stoll(seed);
  read_metrics(paths.metrics(), record);
  read_summary(paths.summary(), record);
  for (const CurvePoint& point : record.curve) {
    record.best = std::max(record.best.value_or(point.accuracy), point.accuracy);
  }
  return record;
}

}  // namespace lockstep
