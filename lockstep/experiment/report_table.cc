#include "lockstep/experiment/report_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/text.h"
#include "lockstep/experiment/report_json.h"

namespace lockstep {
namespace {

std::string accuracy_text(const Spread& spread) {
  if (spread.count == 0) return "–";
  if (spread.count == 1) return fmt::format("{:.2f} %", spread.mean);
  return fmt::format("{:.2f} ± {:.2f} %", spread.mean, spread.sample_std);
}

std::string seconds_text(const Spread& spread) {
  return spread.count == 0 ? "–" : trim(format_seconds(spread.mean));
}

std::string bytes_text(const Spread& spread) {
  return spread.count == 0 ? "–" : format_size(static_cast<std::size_t>(spread.mean));
}

// What it took to the target: with its spread, which is often the larger half of the story.
template <typename Format>
std::string spread_text(const Spread& spread, const Format& format) {
  if (spread.count == 0) return "–";
  if (spread.count == 1) return format(spread.mean);
  return fmt::format("{} ± {}", format(spread.mean),
                     spread.sample_std > 0 ? format(spread.sample_std) : "0");
}

std::string p_text(const Line& line) {
  if (!line.against_baseline) return "";
  const double p = line.against_baseline->corrected;
  const std::string text = p < 0.0001 ? "< 0.0001" : fmt::format("{:.4f}", p);
  return trim(fmt::format("{} {}", text, significance(line)));
}

std::string csv_cell(std::string text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c == '\n' ? ' ' : c;
  }
  return cell;
}

std::string settings_text(const std::vector<Setting>& settings) {
  std::vector<std::string> parts;
  for (const Setting& one : settings) parts.push_back(fmt::format("{} = {}", one.key, one.value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

TableRows result_table(const Comparison& comparison) {
  const bool published = std::ranges::any_of(
      comparison.lines, [](const Line& line) { return line.published.has_value(); });
  const bool spread = std::ranges::any_of(comparison.lines,
                                          [](const Line& line) { return line.accuracy.count > 1; });
  const bool target = comparison.target > 0;
  TableRows rows(1);
  auto& head = rows.front();
  head = {"line", "runs", fmt::format("{} accuracy", to_text(comparison.metric))};
  if (spread) {
    head.push_back(fmt::format("{:g} % interval", 100 * comparison.options.confidence));
    head.insert(head.end(), {"difference", "p", "effect"});
  }
  if (published) head.push_back("published");
  head.insert(head.end(), {"seconds", "sent"});
  if (target) {
    const std::string to = fmt::format("to {:g} %", comparison.target);
    head.insert(head.end(), {"reached " + to, "seconds " + to, "samples " + to, "sent " + to});
  }
  const Spread& base = comparison.lines[comparison.baseline].accuracy;
  for (const Line& line : comparison.lines) {
    const bool is_base = &line == &comparison.lines[comparison.baseline];
    std::vector<std::string> row{line.label, fmt::format("{}", line.accuracy.count),
                                 accuracy_text(line.accuracy)};
    if (spread) {
      const Interval interval = confidence_interval(line.accuracy, comparison.options.confidence);
      row.push_back(line.accuracy.count > 1
                        ? fmt::format("{:.2f} … {:.2f}", interval.low, interval.high)
                        : "");
      const bool both = line.accuracy.count > 0 && base.count > 0;
      row.push_back(is_base ? "baseline"
                    : both  ? fmt::format("{:+.2f}", line.accuracy.mean - base.mean)
                            : "");
      row.push_back(p_text(line));
      row.push_back(line.against_baseline && line.against_baseline->effect != 0
                        ? fmt::format("{:.2f}", line.against_baseline->effect)
                        : "");
    }
    if (published) {
      row.push_back(!line.published ? ""
                    : line.published->std > 0
                        ? fmt::format("{:.2f} ± {:.2f}", line.published->mean, line.published->std)
                        : fmt::format("{:.2f}", line.published->mean));
    }
    row.insert(row.end(), {seconds_text(line.seconds), bytes_text(line.bytes)});
    if (target) {
      row.push_back(fmt::format("{} of {}", line.to_target.reached, line.seconds.count));
      const ToTarget& taken = line.to_target;
      row.push_back(
          spread_text(taken.seconds, [](double value) { return trim(format_seconds(value)); }));
      row.push_back(
          spread_text(taken.samples, [](double value) { return fmt::format("{:.0f}", value); }));
      row.push_back(spread_text(
          taken.bytes, [](double value) { return format_size(static_cast<std::size_t>(value)); }));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string to_markdown(const Comparison& comparison) {
  std::string text;
  if (!comparison.title.empty()) text += fmt::format("# {}\n\n", comparison.title);
  if (!comparison.text.empty()) text += comparison.text + "\n\n";
  const TableRows rows = result_table(comparison);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& cell : rows[i]) text += fmt::format("| {} ", markdown_cell(cell));
    text += "|\n";
    if (i > 0) continue;
    for (std::size_t j = 0; j < rows[i].size(); ++j) text += "|---";
    text += "|\n";
  }
  text += fmt::format(
      "\n{}. p and effect (Hedges' g) are against \"{}\": {}; "
      "* p < 0.05, ** p < 0.01, *** p < 0.001.\n",
      describe_deviation(comparison), comparison.lines[comparison.baseline].label,
      describe_test(comparison));
  if (!comparison.common.empty()) {
    text += fmt::format("\nIn all lines: {}.\n", settings_text(comparison.common));
  }
  text += "\n| line | settings | made by |\n|---|---|---|\n";
  for (const Line& line : comparison.lines) {
    text += fmt::format("| {} | {} | `{}` |\n", markdown_cell(line.label),
                        markdown_cell(settings_text(line.differences)),
                        markdown_cell(reproduce_command(line.runs.front())));
  }
  for (const std::string& remark : comparison.remarks) text += fmt::format("\n{}.\n", remark);
  return text;
}

std::string to_csv(const Comparison& comparison) {
  std::string text = "line,run,seed,complete,epochs,samples,seconds,bytes,validation,best,test\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  for (const Line& line : comparison.lines) {
    for (const RunRecord& run : line.runs) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(line.label),
                          csv_cell(run.path), run.seed, run.complete ? 1 : 0, run.epochs,
                          run.samples, run.seconds, run.bytes, number(run.final_validation()),
                          number(run.best), number(run.test));
    }
  }
  return text;
}

std::string sparkline(const std::vector<double>& values, std::size_t width, double low,
                      double high) {
  static const char* const kSteps[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  if (values.empty()) return text;
  width = std::min(width, values.size());
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t at = width == 1 ? values.size() - 1 : i * (values.size() - 1) / (width - 1);
    const double share = high > low ? (values[at] - low) / (high - low) : 1;
    text += kSteps[static_cast<std::size_t>(std::clamp(std::lround(share * 7), 0l, 7l))];
  }
  return text;
}

std::string to_terminal(const Comparison& comparison) {
  constexpr std::size_t kWidth = 24;
  double low = 1, high = 0;
  for (const Line& line : comparison.lines) {
    for (const BandPoint& point : line.band) {
      low = std::min(low, point.mean);
      high = std::max(high, point.mean);
    }
  }
  std::string text = comparison.title.empty() ? "" : comparison.title + "\n\n";
  text += format_table(result_table(comparison)) + "\n";
  std::size_t widest = 0;
  for (const Line& line : comparison.lines) widest = std::max(widest, line.label.size());
  if (low <= high) {
    text +=
        fmt::format("validation accuracy by epoch, {:.1f} to {:.1f} %\n", 100 * low, 100 * high);
  }
  for (const Line& line : comparison.lines) {
    std::vector<double> means;
    for (const BandPoint& point : line.band) means.push_back(point.mean);
    text += fmt::format("  {:<{}}  {}\n", line.label, widest, sparkline(means, kWidth, low, high));
  }
  const bool tested = std::ranges::any_of(
      comparison.lines, [](const Line& line) { return line.against_baseline.has_value(); });
  if (tested) {
    text += fmt::format("\n{}; p and effect against \"{}\": {}\n", describe_deviation(comparison),
                        comparison.lines[comparison.baseline].label, describe_test(comparison));
  }
  for (const std::string& remark : comparison.remarks) text += remark + "\n";
  return text;
}

}  // namespace lockstep
