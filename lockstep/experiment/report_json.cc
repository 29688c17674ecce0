#include "lockstep/experiment/report_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/experiment/grid.h"

namespace lockstep {
namespace {

constexpr std::size_t kFewestPoints = 20;  // of a line, whatever the limit

Json to_json(const Spread& spread, double confidence) {
  if (spread.count == 0) return nullptr;
  const Interval interval = confidence_interval(spread, confidence);
  return {{"runs", spread.count},
          {"mean", spread.mean},
          {"sample_std", spread.sample_std},
          {"population_std", spread.population_std()},
          {"low", interval.low},
          {"high", interval.high},
          {"least", spread.least},
          {"most", spread.most}};
}

double rounded(double value, double digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, digits - std::ceil(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

// Every so many points, the first and the last among them; columns, for rows would name them all.
Json to_json(const std::vector<BandPoint>& band, std::size_t most) {
  std::vector<std::size_t> taken;
  const std::size_t stride = std::max<std::size_t>(1, (band.size() + most - 1) / most);
  for (std::size_t i = 0; i < band.size(); i += stride) taken.push_back(i);
  if (!band.empty() && taken.back() != band.size() - 1) taken.push_back(band.size() - 1);
  Json columns = Json::object();
  const auto column = [&](const char* name, double BandPoint::*member, double factor) {
    Json values = Json::array();
    for (const std::size_t i : taken) values.push_back(rounded(factor * (band[i].*member), 5));
    columns[name] = std::move(values);
  };
  column("epoch", &BandPoint::epoch, 1);
  column("samples", &BandPoint::samples, 1);
  column("seconds", &BandPoint::seconds, 1);
  column("bytes", &BandPoint::bytes, 1);
  column("mean", &BandPoint::mean, 100);
  column("std", &BandPoint::std, 100);
  return columns;
}

Json to_json(const Line& line, const Comparison& comparison, std::size_t most_points) {
  const double confidence = comparison.options.confidence;
  Json runs = Json::array();
  for (const RunRecord& run : line.runs) {
    const auto accuracy = run.accuracy(comparison.metric);
    runs.push_back({{"path", run.path},
                    {"seed", run.seed},
                    {"complete", run.complete},
                    {"accuracy", accuracy ? Json(100 * *accuracy) : Json(nullptr)},
                    {"seconds", run.seconds},
                    {"bytes", run.bytes}});
  }
  Json object{{"label", line.label},
              {"labels", line.labels},
              {"runs", std::move(runs)},
              {"accuracy", to_json(line.accuracy, confidence)},
              {"seconds", to_json(line.seconds, confidence)},
              {"bytes", to_json(line.bytes, confidence)},
              {"differences", to_json(line.differences)},
              {"command", reproduce_command(line.runs.front())},
              {"curve", to_json(line.band, most_points)}};
  if (comparison.target > 0) {
    object["to_target"] = {{"reached", line.to_target.reached},
                           {"seconds", to_json(line.to_target.seconds, confidence)},
                           {"samples", to_json(line.to_target.samples, confidence)},
                           {"bytes", to_json(line.to_target.bytes, confidence)}};
  }
  if (line.against_baseline) {
    const Verdict& verdict = *line.against_baseline;
    object["against_baseline"] = {{"t", verdict.test.t},      {"degrees", verdict.test.degrees},
                                  {"p", verdict.test.p},      {"p_holm", verdict.corrected},
                                  {"effect", verdict.effect}, {"mark", significance(line)}};
  }
  if (line.published) {
    object["published"] = {{"mean", line.published->mean},
                           {"std", line.published->std},
                           {"runs", line.published->runs}};
    if (line.against_published) object["published"]["p"] = line.against_published->p;
  }
  Json phases = Json::object();
  double complete = 0;
  for (const RunRecord& run : line.runs) complete += run.complete;
  for (const RunRecord& run : line.runs) {
    for (const StepPhase& phase : run.phases) {
      const double before = phases.contains(phase.name) ? phases[phase.name].get<double>() : 0;
      phases[phase.name] = before + 1e3 * phase.seconds / complete;
    }
  }
  object["step_ms"] = std::move(phases);
  return object;
}

}  // namespace

std::string significance(const Line& line) {
  if (!line.against_baseline) return "";
  const double p = line.against_baseline->corrected;
  return p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : "";
}

std::string reproduce_command(const RunRecord& run) {
  std::string quoted;
  for (const char c : run.path) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  const bool plain = run.path.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789-_./=,+") == std::string::npos;
  return plain ? fmt::format("lockstep train {}/config.toml", run.path)
               : fmt::format("lockstep train '{}/config.toml'", quoted);
}

std::string describe_test(const Comparison& comparison) {
  const ComparisonOptions& options = comparison.options;
  const auto tested = std::ranges::count_if(
      comparison.lines, [](const Line& line) { return line.against_baseline.has_value(); });
  return fmt::format("{} t-test, {}, Holm's correction over {} line{}",
                     options.test == MeanTest::kWelch ? "Welch's" : "Student's",
                     options.tail == Tail::kTwo       ? "two-tailed"
                     : options.tail == Tail::kGreater ? "one-tailed (greater)"
                                                      : "one-tailed (less)",
                     tested, tested == 1 ? "" : "s");
}

std::string describe_deviation(const Comparison& comparison) {
  const bool published = std::ranges::any_of(
      comparison.lines, [](const Line& line) { return line.published.has_value(); });
  return fmt::format("± is the standard deviation of the sample{}",
                     published ? ", of published results that of the population" : "");
}

Json to_json(const Comparison& comparison, std::size_t most_points) {
  const std::size_t each =
      std::max(kFewestPoints, most_points / std::max<std::size_t>(1, comparison.lines.size()));
  Json lines = Json::array();
  for (const Line& line : comparison.lines) lines.push_back(to_json(line, comparison, each));
  return {{"title", comparison.title},
          {"text", comparison.text},
          {"axes", comparison.axes},
          {"metric", to_text(comparison.metric)},
          {"target", comparison.target},
          {"confidence", comparison.options.confidence},
          {"test", describe_test(comparison)},
          {"deviation", describe_deviation(comparison)},
          {"baseline", comparison.baseline},
          {"epochs_alike", comparison.epochs_alike},
          {"common", to_json(comparison.common)},
          {"remarks", comparison.remarks},
          {"lines", std::move(lines)}};
}

}  // namespace lockstep
