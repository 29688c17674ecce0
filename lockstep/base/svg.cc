#include "lockstep/base/svg.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace lockstep {

std::string xml_escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) safe += c;
    }
  }
  return safe;
}

std::string svg_head(double width, double height, int font_size, std::string_view title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"{2}\" role=\"img\">\n"
      "<title>{3}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width, height, font_size, xml_escaped(title));
}

const char* svg_color(std::size_t i) {
  constexpr std::array kColors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                               "#e69f00", "#56b4e9", "#000000", "#7f7f7f"};
  return kColors[i % kColors.size()];
}

std::vector<double> ticks(double low, double high, std::size_t count) {
  std::vector<double> found;
  if (!(high > low) || count == 0 || !std::isfinite(high - low)) return found;
  const double rough = (high - low) / static_cast<double>(count);
  const double ten = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * ten;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * ten >= rough) {
      step = factor * ten;
      break;
    }
  }
  const double first = std::ceil(low / step);
  for (double i = first; i * step <= high && found.size() <= 2 * count; ++i) {
    found.push_back(i * step + 0.0);  // no "-0"
  }
  return found;
}

}  // namespace lockstep
