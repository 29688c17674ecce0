#include "lockstep/pipeline/gantt.h"

#include <fmt/format.h>

#include "lockstep/base/svg.h"
#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr double kWidth = 960, kLeft = 90, kRight = 20, kTop = 40, kBottom = 40;
constexpr double kRow = 46, kTask = 24, kMessage = 8;  // heights: of a row and of what is in it
constexpr double kLetter = 6.2;                        // about the width of one, at 11 pixels

}  // namespace

std::string gantt_svg(const OperatorGraph& graph, const Devices& devices,
                      const PlacementTimes& times) {
  const double height = kTop + kRow * static_cast<double>(devices.size()) + kBottom;
  const double whole = times.makespan > 0 ? times.makespan : 1;
  const auto across = [&](double time) { return kLeft + (kWidth - kLeft - kRight) * time / whole; };
  const auto row = [](std::size_t device) { return kTop + kRow * static_cast<double>(device); };
  const std::string title = graph.title.empty() ? "placement" : graph.title;
  std::string text = svg_head(kWidth, height, 11, title);
  text +=
      fmt::format("<text x=\"{}\" y=\"22\" font-size=\"14\" font-weight=\"bold\">{}: {}</text>\n",
                  kLeft, xml_escaped(title), format_seconds(times.makespan));
  const double bottom = height - kBottom;
  for (const double tick : ticks(0, whole, 8)) {
    text += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#e0e0e0\"/>\n"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        across(tick), kTop, bottom, bottom + 18, format_seconds(tick));
  }
  for (std::size_t d = 0; d < devices.size(); ++d) {
    text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8,
                        row(d) + 20, xml_escaped(devices.all[d].name));
  }
  for (const PlacedTask& task : times.tasks) {
    const std::string& name = graph.operators[task.op].name;
    const double x = across(task.begin), width = across(task.end) - x;
    text += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" "
        "fill-opacity=\"0.55\" stroke=\"#333333\" stroke-width=\"0.5\"><title>{}, {} to "
        "{}</title></rect>\n",
        x, row(task.device) + 4, width, kTask, svg_color(task.op), xml_escaped(name),
        format_seconds(task.begin), format_seconds(task.end));
    if (width < kLetter * static_cast<double>(name.size()) + 4) continue;
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                        x + width / 2, row(task.device) + 20, xml_escaped(name));
  }
  for (const PlacedMessage& message : times.messages) {
    const double x = across(message.begin);
    text += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" "
        "stroke=\"none\"><title>{} to {}</title></rect>\n",
        x, row(message.from) + 4 + kTask + 3, across(message.end) - x, kMessage,
        svg_color(message.op), xml_escaped(graph.operators[message.op].name),
        xml_escaped(devices.all[message.to].name));
  }
  return text + "</svg>\n";
}

}  // namespace lockstep
