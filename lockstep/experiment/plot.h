// A plot of lines as an SVG picture: for documents, which a page with scripts does not fit into.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

struct PlotPoint {
  double x = 0, y = 0;
  double std = 0;  // drawn as a band, or as a bar where x is one of `categories`
};

struct PlotSeries {
  std::string label;
  std::vector<PlotPoint> points;  // by rising x
  bool dashed = false;
  std::size_t color = 0;  // series of one color belong together
};

struct Plot {
  std::string title, x_title, y_title;
  std::vector<std::string> categories;  // names of x = 0, 1, 2, …; none: x is a number
  std::vector<PlotSeries> series;
};

// Readable on light and on dark pages: it brings its own background.
std::string to_svg(const Plot& plot);

}  // namespace lockstep
