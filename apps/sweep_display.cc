#include "apps/sweep_display.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>

namespace lockstep {
namespace {

std::string bar(double share) {
  constexpr int kWidth = 20;
  const int full = static_cast<int>(std::lround(share * kWidth));
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(kWidth - full), '.') + "]";
}

std::string whole_line(const SweepStanding& s) {
  std::string line = fmt::format(
      "{} {}/{} runs", bar(s.runs > 0 ? double(s.done) / double(s.runs) : 1), s.done, s.runs);
  if (s.failed > 0) line += fmt::format(", {} failed", s.failed);
  line += fmt::format(", {}", spoken_seconds(s.seconds));
  if (s.left >= 0) line += fmt::format(", about {} left", spoken_seconds(s.left));
  return line;
}

}  // namespace

std::string spoken_seconds(double seconds) {
  const auto whole = static_cast<long>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

void SweepDisplay::clear() {
  for (; drawn_ > 0; --drawn_) out_ << "\033[1A\033[2K";
}

// A line that wraps could not be taken back.
std::string SweepDisplay::fitted(std::string line) const {
  const auto most = static_cast<std::size_t>(columns_ > 1 ? columns_ - 1 : 79);
  if (line.size() > most) line.resize(most);
  return line;
}

void SweepDisplay::show(const SweepStanding& standing) {
  clear();
  for (const std::string& line : standing.news) {
    out_ << fmt::format("[{}/{}] {}\n", standing.done, standing.runs, line);
    if (!terminal_ && standing.left > 0) {
      out_ << fmt::format("    about {} left\n", spoken_seconds(standing.left));
    }
  }
  if (terminal_) {
    for (const auto& one : standing.running) {
      out_ << fitted(fmt::format("  {} {:3.0f} %  {}", bar(one.share), 100 * one.share, one.title))
           << "\n";
      ++drawn_;
    }
    out_ << fitted(whole_line(standing)) << "\n";
    ++drawn_;
  }
  out_.flush();
}

void SweepDisplay::close() {
  clear();
  out_.flush();
}

}  // namespace lockstep
