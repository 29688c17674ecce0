// What every SVG picture needs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// As text of an element or an attribute; control characters, which XML forbids, are left out.
std::string xml_escaped(std::string_view text);

// Opens a picture of this size with its title and a white background, for light and dark pages.
std::string svg_head(double width, double height, int font_size, std::string_view title);

// Colours that people with any colour vision tell apart (Okabe and Ito); they repeat.
const char* svg_color(std::size_t i);

// Round numbers from `low` to `high`, about `count` of them.
std::vector<double> ticks(double low, double high, std::size_t count);

}  // namespace lockstep
