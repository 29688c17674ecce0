#include "lockstep/experiment/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/svg.h"

namespace lockstep {
namespace {

constexpr double kWidth = 760, kHeight = 380;                       // of the whole but its legend
constexpr double kLeft = 64, kRight = 16, kTop = 36, kBottom = 52;  // around the drawing
constexpr double kLegendRow = 18;
constexpr std::size_t kMostUpright = 10;  // more names below the axis would run into each other

std::string short_number(double value) {
  struct Unit {
    double size;
    const char* name;
  };
  for (const Unit& unit : {Unit{1e12, "T"}, Unit{1e9, "G"}, Unit{1e6, "M"}, Unit{1e3, "k"}}) {
    if (std::abs(value) >= unit.size) return fmt::format("{:.6g}{}", value / unit.size, unit.name);
  }
  return fmt::format("{:.6g}", value);
}

// Published results are dashed; where colours begin to repeat, dots tell lines apart.
const char* dashes(const PlotSeries& series) {
  if (series.dashed) return " stroke-dasharray=\"6 4\"";
  constexpr std::size_t kColors = 8;
  if (series.color < kColors) return "";
  return series.color < 2 * kColors ? " stroke-dasharray=\"2 3\"" : " stroke-dasharray=\"9 3 2 3\"";
}

class Drawing {
 public:
  explicit Drawing(const Plot& plot) : plot_(plot) {
    bool any = false;
    for (const PlotSeries& series : plot.series) {
      for (const PlotPoint& point : series.points) {
        if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
        const double low = point.y - point.std, high = point.y + point.std;
        x_low_ = any ? std::min(x_low_, point.x) : point.x;
        x_high_ = any ? std::max(x_high_, point.x) : point.x;
        y_low_ = any ? std::min(y_low_, low) : low;
        y_high_ = any ? std::max(y_high_, high) : high;
        any = true;
      }
    }
    if (!plot.categories.empty()) {
      x_low_ = -0.5;
      x_high_ = static_cast<double>(plot.categories.size()) - 0.5;
    } else if (x_high_ <= x_low_) {
      x_high_ = x_low_ + 1;
    }
    const double margin = std::max(0.05 * (y_high_ - y_low_), 0.01);
    y_low_ -= margin;
    y_high_ += margin;
  }

  std::string draw() {
    const std::size_t rows = (plot_.series.size() + 1) / 2;
    const double height = kHeight + kLegendRow * static_cast<double>(rows) + 8;
    text_ = svg_head(kWidth, height, 12, plot_.title);
    write(kWidth / 2, 20, "middle", plot_.title, "font-size=\"14\" font-weight=\"bold\"");
    axes();
    for (std::size_t i = 0; i < plot_.series.size(); ++i) draw(plot_.series[i], i);
    for (std::size_t i = 0; i < plot_.series.size(); ++i) legend(i);
    return text_ + "</svg>\n";
  }

 private:
  double across(double x) const {
    return kLeft + (kWidth - kLeft - kRight) * (x - x_low_) / (x_high_ - x_low_);
  }
  double down(double y) const {
    return kTop + (kHeight - kTop - kBottom) * (y_high_ - y) / (y_high_ - y_low_);
  }

  void write(double x, double y, const char* anchor, const std::string& what,
             const std::string& more = "") {
    text_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" fill=\"#222222\" {}>{}"
        "</text>\n",
        x, y, anchor, more, xml_escaped(what));
  }
  void line(double x1, double y1, double x2, double y2, const char* color,
            const std::string& more = "") {
    text_ += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
        "stroke=\"{}\" {}/>\n",
        x1, y1, x2, y2, color, more);
  }

  void axes() {
    const double bottom = kHeight - kBottom;
    for (const double y : ticks(y_low_, y_high_, 6)) {
      line(kLeft, down(y), kWidth - kRight, down(y), "#e0e0e0");
      write(kLeft - 6, down(y) + 4, "end", short_number(y));
    }
    if (plot_.categories.empty()) {
      for (const double x : ticks(x_low_, x_high_, 8)) {
        line(across(x), bottom, across(x), bottom + 4, "#888888");
        write(across(x), bottom + 18, "middle", short_number(x));
      }
    }
    for (std::size_t i = 0; i < plot_.categories.size(); ++i) {
      const double x = across(static_cast<double>(i)), y = bottom + 18;
      if (plot_.categories.size() <= kMostUpright) {
        write(x, y, "middle", plot_.categories[i]);
        continue;
      }
      write(x + 8, y - 6, "end", plot_.categories[i],
            fmt::format("font-size=\"10\" transform=\"rotate(-25 {:.1f} {:.1f})\"", x + 8, y - 6));
    }
    line(kLeft, bottom, kWidth - kRight, bottom, "#888888");
    line(kLeft, kTop, kLeft, bottom, "#888888");
    write((kLeft + kWidth - kRight) / 2, bottom + 38, "middle", plot_.x_title);
    const double middle = (kTop + bottom) / 2;
    write(16, middle, "middle", plot_.y_title,
          fmt::format("transform=\"rotate(-90 16 {})\"", middle));
  }

  // Series beside each other, lest their bars cover each other.
  double shift(std::size_t i) const {
    if (plot_.categories.empty() || plot_.series.size() < 2) return 0;
    const auto n = static_cast<double>(plot_.series.size());
    return std::min(0.4, 0.06 * n) * (static_cast<double>(i) / (n - 1) - 0.5);
  }

  void draw(const PlotSeries& series, std::size_t number) {
    const char* color = svg_color(series.color);
    std::string path, upper;
    std::vector<PlotPoint> lower;
    for (const PlotPoint& point : series.points) {
      if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
      const double x = across(point.x + shift(number));
      path += fmt::format("{:.1f},{:.1f} ", x, down(point.y));
      if (point.std <= 0) continue;
      if (!plot_.categories.empty()) {
        line(x, down(point.y - point.std), x, down(point.y + point.std), color,
             "stroke-width=\"1.5\"");
        continue;
      }
      upper += fmt::format("{:.1f},{:.1f} ", x, down(point.y + point.std));
      lower.push_back({x, point.y - point.std, 0});
    }
    if (!upper.empty()) {
      for (auto point = lower.rbegin(); point != lower.rend(); ++point) {
        upper += fmt::format("{:.1f},{:.1f} ", point->x, down(point->y));
      }
      text_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" opacity=\"0.15\"/>\n", upper, color);
    }
    text_ += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
        "stroke-linejoin=\"round\"{}/>\n",
        path, color, dashes(series));
    constexpr std::size_t kMostMarks = 30;
    if (series.points.size() > kMostMarks) return;
    for (const PlotPoint& point : series.points) {
      if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
      text_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n",
                           across(point.x + shift(number)), down(point.y), color);
    }
  }

  void legend(std::size_t i) {
    const double x = kLeft + static_cast<double>(i % 2) * (kWidth - kLeft) / 2;
    const double y = kHeight + kLegendRow * static_cast<double>(i / 2);
    line(x, y, x + 24, y, svg_color(plot_.series[i].color),
         fmt::format("stroke-width=\"3\"{}", dashes(plot_.series[i])));
    write(x + 30, y + 4, "start", plot_.series[i].label);
  }

  const Plot& plot_;
  double x_low_ = 0, x_high_ = 1, y_low_ = 0, y_high_ = 1;
  std::string text_;
};

}  // namespace

std::string to_svg(const Plot& plot) {
  return Drawing(plot).draw();
}

}  // namespace lockstep
