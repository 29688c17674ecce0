// `lockstep report` and `lockstep compare`: runs and sweeps beside each other.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "apps/command.h"
#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/experiment/comparison.h"
#include "lockstep/experiment/report_json.h"
#include "lockstep/experiment/report_page.h"
#include "lockstep/experiment/report_plot.h"
#include "lockstep/experiment/report_table.h"

namespace lockstep {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  std::string out;
  std::string format = "html";
  std::string baseline, metric, test = "welch", tail = "two";
  double target = -1;
  double confidence = 0.95;
  std::string along;  // an axis, of a plot
  bool relative = false;
};

ComparisonOptions options_of(const Arguments& arguments) {
  ComparisonOptions options;
  options.baseline = arguments.baseline;
  options.metric = metric_named(arguments.metric);
  if (arguments.target >= 0) options.target = arguments.target;
  options.test = arguments.test == "student" ? MeanTest::kStudent : MeanTest::kWelch;
  options.tail = arguments.tail == "greater" ? Tail::kGreater
                 : arguments.tail == "less"  ? Tail::kLess
                                             : Tail::kTwo;
  options.confidence = arguments.confidence;
  return options;
}

std::string plot_of(const Comparison& comparison, const Arguments& arguments) {
  return to_svg(arguments.along.empty()
                    ? plot_of_curves(comparison)
                    : plot_along(comparison, arguments.along, arguments.relative));
}

std::string report_of(const Comparison& comparison, const Arguments& arguments) {
  const std::string& format = arguments.format;
  if (format == "svg") return plot_of(comparison, arguments);
  if (format == "markdown") return to_markdown(comparison);
  if (format == "csv") return to_csv(comparison);
  if (format == "json") {
    return to_json(comparison).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return report_page(comparison);
}

void report_command(const Arguments& arguments) {
  if (!arguments.along.empty() && arguments.format != "svg") {
    throw ConfigError("--along is for --format svg");
  }
  if (arguments.relative && arguments.along.empty()) throw ConfigError("--relative needs --along");
  const Comparison comparison = compare(arguments.paths, options_of(arguments));
  const std::string report = report_of(comparison, arguments);
  if (arguments.out == "-" || (arguments.out.empty() && arguments.format != "html")) {
    std::cout << report;
    return;
  }
  const std::string path = arguments.out.empty() ? "report.html" : arguments.out;
  write_file(path, report);
  std::cout << fmt::format("{}: {} lines, {} KB\n", path, comparison.lines.size(),
                           (report.size() + 1023) / 1024);
  for (const std::string& remark : comparison.remarks) std::cout << remark << "\n";
}

void add_arguments(CLI::App& command, Arguments& arguments) {
  command.add_option("runs", arguments.paths, "Runs, sweeps, or directories with runs in them")
      ->required();
  command.add_option("--baseline", arguments.baseline,
                     "The line that others are tested against; default: the sweep's, or the first");
  command.add_option("--metric", arguments.metric, "Which accuracy counts")
      ->check(CLI::IsMember({"validation", "best", "test"}));
  command
      .add_option("--target", arguments.target,
                  "Accuracy in per cent: how long and how many bytes until it was reached")
      ->check(CLI::Range(0.0, 100.0));
  command.add_option("--test", arguments.test, "Student's t-test, or Welch's")
      ->check(CLI::IsMember({"welch", "student"}));
  command.add_option("--tail", arguments.tail, "Is a line different, greater or less?")
      ->check(CLI::IsMember({"two", "greater", "less"}));
  command.add_option("--confidence", arguments.confidence, "Of the intervals")
      ->check(CLI::Range(0.5, 0.9999));
}

}  // namespace

void add_report_commands(CLI::App& app) {
  const auto report = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("report", "Compare runs on a page: curves, tables, tests");
  add_arguments(*command, *report);
  command->add_option("-o,--out", report->out,
                      "The file to write; default: report.html; - or another format: the terminal");
  command->add_option("--format", report->format, "html, markdown, csv, json or svg (a plot)")
      ->check(CLI::IsMember({"html", "markdown", "csv", "json", "svg"}));
  command->add_option("--along", report->along,
                      "Of svg: plot final accuracies along this axis of the sweep, not curves");
  command->add_flag("--relative", report->relative,
                    "With --along: as differences from the baseline, ours and published");
  command->callback([report] { report_command(*report); });

  const auto terminal = std::make_shared<Arguments>();
  auto* compared = app.add_subcommand("compare", "Compare runs in the terminal");
  add_arguments(*compared, *terminal);
  compared->callback(
      [terminal] { std::cout << to_terminal(compare(terminal->paths, options_of(*terminal))); });
}

}  // namespace lockstep
