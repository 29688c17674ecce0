#include "lockstep/experiment/report_plot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr const char* kOnly = "measured";  // the name of a series that needs none

// "shards=full" of a line, without the axis that is drawn along.
std::string name_of_series(const Comparison& comparison, const Line& line, std::size_t along) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < line.labels.size(); ++i) {
    if (i == along) continue;
    parts.push_back(fmt::format("{}={}", short_name(comparison.axes[i]), line.labels[i]));
  }
  return parts.empty() ? kOnly : fmt::format("{}", fmt::join(parts, ", "));
}

std::size_t index_of(const std::string& name, std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

}  // namespace

Plot plot_of_curves(const Comparison& comparison) {
  Plot plot;
  plot.title = comparison.title.empty() ? "Runs compared" : comparison.title;
  plot.x_title = comparison.epochs_alike ? "epochs" : "samples";
  plot.y_title = "validation accuracy, %";
  for (const Line& line : comparison.lines) {
    PlotSeries series{line.label, {}, false, plot.series.size()};
    for (const BandPoint& point : line.band) {
      const double x = comparison.epochs_alike ? point.epoch : point.samples;
      series.points.push_back({x, 100 * point.mean, 100 * point.std});
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

Plot plot_along(const Comparison& comparison, const std::string& axis, bool relative) {
  const auto found = std::ranges::find(comparison.axes, axis);
  if (found == comparison.axes.end()) {
    if (comparison.axes.empty()) {
      throw ConfigError("--along {}: only a single sweep has axes to plot along", axis);
    }
    throw ConfigError("{}", unknown_name("axis", axis, comparison.axes));
  }
  const auto along = static_cast<std::size_t>(found - comparison.axes.begin());
  Plot plot;
  plot.title = comparison.title;
  plot.x_title = axis;
  plot.y_title = fmt::format("{} accuracy, %", to_text(comparison.metric));
  const Line& baseline = comparison.lines[comparison.baseline];
  if (relative && baseline.accuracy.count == 0) {
    throw ConfigError("--relative needs a finished run of the baseline, {}", baseline.label);
  }
  if (relative) {
    plot.y_title = "points above the baseline";
    plot.x_title += "; baseline: " + baseline.label;
  }
  const double zero = relative ? baseline.accuracy.mean : 0;
  const double published_zero = relative && baseline.published ? baseline.published->mean : 0;
  const bool with_published = !relative || baseline.published;
  std::vector<std::string> names;
  std::vector<PlotSeries> measured, published;
  for (const Line& line : comparison.lines) {
    const std::size_t at = index_of(line.labels[along], plot.categories);
    const std::size_t which = index_of(name_of_series(comparison, line, along), names);
    if (which == measured.size()) {
      measured.push_back({names[which], {}, false, which});
      published.push_back(
          {names[which] == kOnly ? "published" : names[which] + " (published)", {}, true, which});
    }
    const auto x = static_cast<double>(at);
    if (line.accuracy.count > 0) {
      measured[which].points.push_back({x, line.accuracy.mean - zero, line.accuracy.sample_std});
    }
    if (line.published && with_published) {
      published[which].points.push_back(
          {x, line.published->mean - published_zero, line.published->std});
    }
  }
  for (auto* some : {&measured, &published}) {
    for (PlotSeries& series : *some) {
      if (series.points.empty()) continue;
      std::ranges::sort(series.points, {}, &PlotPoint::x);
      plot.series.push_back(std::move(series));
    }
  }
  return plot;
}

}  // namespace lockstep
