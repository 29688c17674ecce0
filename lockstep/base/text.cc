#include "lockstep/base/text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

template <typename T>
T parse_number(std::string_view text, std::string_view what, std::string_view kind) {
  const std::string clean = trim(text);
  std::string_view digits = clean;
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    throw ConfigError("{}: \"{}\" is out of range", what, clean);
  }
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
    throw ConfigError("{}: \"{}\" is not {}", what, clean, kind);
  }
  return value;
}

// Levenshtein distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t swap = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, swap});
    }
  }
  return row[b.size()];
}

// Columns on a screen, not bytes: continuation bytes of UTF-8 take no room.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  if (trim(text).empty()) return pieces;
  while (true) {
    const auto at = text.find(separator);
    pieces.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::int64_t parse_integer(std::string_view text, std::string_view what) {
  return parse_number<std::int64_t>(text, what, "a whole number");
}

double parse_real(std::string_view text, std::string_view what) {
  return parse_number<double>(text, what, "a number");
}

std::size_t parse_size(std::string_view text, std::string_view what) {
  std::string clean = trim(text);
  double unit = 1;
  if (!clean.empty() && (clean.back() == 'B' || clean.back() == 'b')) clean.pop_back();
  if (!clean.empty()) {
    const int last = std::toupper(static_cast<unsigned char>(clean.back()));
    const auto shift = std::string_view("KMGT").find(static_cast<char>(last));
    if (shift != std::string_view::npos) {
      unit = std::pow(1024.0, static_cast<double>(shift + 1));
      clean.pop_back();
    }
  }
  double value = 0;
  try {
    value = parse_real(clean, what);
  } catch (const ConfigError&) {
    throw ConfigError("{}: \"{}\" is not a size; write bytes with K, M or G, such as 64K", what,
                      trim(text));
  }
  const double bytes = value * unit;
  if (!(bytes >= 0) || bytes > 0x1.0p53) {  // beyond it a double skips bytes
    throw ConfigError("{}: \"{}\" is out of range; sizes go from 0 to 8192T", what, trim(text));
  }
  return static_cast<std::size_t>(bytes);
}

std::string format_size(std::size_t bytes) {
  constexpr std::string_view kUnits = "KMGT";
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.95K would be written as 1024K: it is 1M.
  while (value >= (unit == 0 ? 1024 : 1023.95) && unit < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{}", bytes);
  const bool whole = std::abs(value - std::round(value)) < 0.05;
  return whole ? fmt::format("{:.0f}{}", value, kUnits[unit - 1])
               : fmt::format("{:.1f}{}", value, kUnits[unit - 1]);
}

std::string format_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const bool begins = name.size() >= 2 && candidate.starts_with(name);
    const std::size_t distance = begins ? 1 : edit_distance(name, candidate);
    // A name of which every letter would change is not near, however short.
    const bool related = distance < std::max(name.size(), candidate.size());
    if (related && distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string unknown_name(std::string_view what, std::string_view name,
                         std::span<const std::string> candidates) {
  const std::string near = nearest_name(name, candidates);
  return fmt::format("unknown {} \"{}\"{} Valid: {}", what, name,
                     near.empty() ? "." : fmt::format("; did you mean \"{}\"?", near),
                     fmt::join(candidates, ", "));
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - display_width(row[i]), ' ');
      if (i > 0) line += "  ";
      line += i == 0 ? row[i] + blanks : blanks + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

}  // namespace lockstep
