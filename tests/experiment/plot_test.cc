// Pictures against the numbers that they show: where a mark stands is read back from the ticks.
#include "lockstep/experiment/plot.h"

#include <gmock/gmock.h>

#include <limits>
#include <regex>

#include "lockstep/base/error.h"
#include "lockstep/experiment/report_plot.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

struct Mark {
  double x, y;
};

std::vector<Mark> marks_of(const std::string& svg) {
  std::vector<Mark> marks;
  const std::regex circle("<circle cx=\"([-0-9.]+)\" cy=\"([-0-9.]+)\"");
  for (std::sregex_iterator i(svg.begin(), svg.end(), circle), end; i != end; ++i) {
    marks.push_back({std::stod((*i)[1]), std::stod((*i)[2])});
  }
  return marks;
}

// The value at a height, by the lowest and the highest tick of the vertical axis.
double value_at(const std::string& svg, double y) {
  std::vector<Mark> known;  // x: the number beside the tick
  const std::regex tick("<text x=\"58.0\" y=\"([-0-9.]+)\"[^>]*>([-0-9.]+)</text>");
  for (std::sregex_iterator i(svg.begin(), svg.end(), tick), end; i != end; ++i) {
    known.push_back({std::stod((*i)[2]), std::stod((*i)[1]) - 4});
  }
  EXPECT_GE(known.size(), 2u) << svg;
  if (known.size() < 2) return 0;
  const Mark a = known.front(), b = known.back();
  return a.x + (y - a.y) * (b.x - a.x) / (b.y - a.y);
}

Comparison three_by_two() {
  Comparison comparison;
  comparison.title = "Batches & <shards>";
  comparison.axes = {"assign.name", "train.batch"};
  for (const char* assign : {"disjoint", "full"}) {
    for (const int batch : {128, 256, 512}) {
      Line line;
      line.labels = {assign, std::to_string(batch)};
      line.label = line.labels[0] + "," + line.labels[1];
      const double mean = 90 - batch / 100.0 + (line.labels[0] == "full" ? 1 : 0);
      line.accuracy = {.count = 3, .mean = mean, .sample_std = 0.5};
      line.published = PublishedResult{line.labels, mean + 5, 0.2, 5};
      line.band = {{.epoch = 1, .mean = 0.5, .std = 0.1}, {.epoch = 2, .mean = mean / 100}};
      comparison.lines.push_back(line);
    }
  }
  return comparison;
}

TEST(Plot, MarksStandWhereTheNumbersAre) {
  const Plot plot = plot_along(three_by_two(), "train.batch", false);
  EXPECT_THAT(plot.categories, ElementsAre("128", "256", "512"));
  ASSERT_THAT(plot.series, SizeIs(4));
  const std::string svg = to_svg(plot);
  const std::vector<Mark> marks = marks_of(svg);
  ASSERT_THAT(marks, SizeIs(12));
  std::size_t next = 0;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      EXPECT_NEAR(value_at(svg, marks[next].y), point.y, 0.01) << series.label;
      ++next;
    }
  }
  EXPECT_LT(marks[0].x, marks[1].x);
  EXPECT_EQ(plot.series[1].label, "assign=full");
  EXPECT_TRUE(plot.series[2].dashed);
  EXPECT_EQ(plot.series[2].color, plot.series[0].color);
}

TEST(Plot, DifferencesAreFromTheBaselineOfEach) {
  Comparison comparison = three_by_two();
  comparison.baseline = 1;
  const Plot plot = plot_along(comparison, "train.batch", true);
  EXPECT_NEAR(plot.series[0].points[1].y, 0, 1e-12);
  EXPECT_NEAR(plot.series[2].points[1].y, 0, 1e-12) << "published, from what was published";
  EXPECT_NEAR(plot.series[1].points[1].y, 1, 1e-12);
  comparison.lines[1].published.reset();
  EXPECT_THAT(plot_along(comparison, "train.batch", true).series, SizeIs(2));
}

TEST(Plot, CurvesHaveBandsAndNothingBreaksThePicture) {
  Comparison comparison = three_by_two();
  comparison.lines[0].label = "a<b>\"&\x01";
  comparison.lines[1].band[0].mean = std::numeric_limits<double>::quiet_NaN();
  comparison.lines[2].band.clear();
  const std::string svg = to_svg(plot_of_curves(comparison));
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;&quot;&amp;<"));
  EXPECT_THAT(svg, HasSubstr("<polygon"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(to_svg(Plot{}), HasSubstr("</svg>"));
}

TEST(Plot, EpochsThatAreNotAlikeAreNotCompared) {
  Comparison comparison = three_by_two();
  EXPECT_EQ(plot_of_curves(comparison).x_title, "epochs");
  comparison.epochs_alike = false;
  comparison.lines[0].band[1].samples = 5000;
  const Plot plot = plot_of_curves(comparison);
  EXPECT_EQ(plot.x_title, "samples");
  EXPECT_DOUBLE_EQ(plot.series[0].points[1].x, 5000);
}

TEST(Plot, DifferencesFromNothingAreRefused) {
  Comparison comparison = three_by_two();
  comparison.lines[0].accuracy = {};
  EXPECT_THROW(plot_along(comparison, "train.batch", true), ConfigError);
}

TEST(Plot, UnknownAxesAreNamed) {
  try {
    plot_along(three_by_two(), "train.batsh", false);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("train.batch"));
  }
  Comparison without = three_by_two();
  without.axes.clear();
  EXPECT_THROW(plot_along(without, "train.batch", false), ConfigError);
}

}  // namespace
}  // namespace lockstep
