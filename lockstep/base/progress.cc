#include "lockstep/base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "lockstep/base/text.h"

namespace lockstep {
namespace {

constexpr double kTerminalPeriod = 0.1;
constexpr double kPlainPeriod = 10;
constexpr std::size_t kBarWidth = 24;

}  // namespace

bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}
bool stdout_is_terminal() {
  return isatty(STDOUT_FILENO) == 1;
}

Progress::Progress(std::string title, std::uint64_t total)
    : Progress(std::move(title), total, std::cerr,
               stderr_is_terminal() ? Style::kTerminal : Style::kPlain) {}

Progress::Progress(std::string title, std::uint64_t total, std::ostream& out, Style style)
    : title_(std::move(title)), total_(total), out_(out), style_(style) {}

Progress::~Progress() {
  if (open_) out_ << "\n" << std::flush;
}

void Progress::update(std::uint64_t done, double now, const std::string& note) {
  if (finished_) return;
  if (!any_) {
    began_ = now;
    first_ = done;
  }
  const double period = style_ == Style::kTerminal ? kTerminalPeriod : kPlainPeriod;
  if (any_ && done < total_ && now - drawn_ < period) return;
  any_ = true;
  drawn_ = now;
  finished_ = done >= total_;
  draw(done, now, note);
}

void Progress::say(const std::string& line) {
  out_ << (open_ ? "\r\x1b[K" : "") << line << "\n" << std::flush;
  open_ = false;
  if (style_ == Style::kTerminal) drawn_ -= kTerminalPeriod;  // the next update draws it again
}

void Progress::draw(std::uint64_t done, double now, const std::string& note) {
  const double share =
      total_ == 0 ? 1 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  std::string left;
  if (done > first_ && done < total_ && now > began_) {
    const double pace = (now - began_) / static_cast<double>(done - first_);
    left = fmt::format(", {} left", format_seconds(pace * static_cast<double>(total_ - done)));
  }
  const std::string counts =
      fmt::format("{}/{}{}{}{}", done, total_, left, note.empty() ? "" : "  ", note);
  if (style_ == Style::kPlain) {
    out_ << fmt::format("{}: {}\n", title_, counts) << std::flush;
    return;
  }
  const auto full = static_cast<std::size_t>(share * kBarWidth);
  std::string bar;
  for (std::size_t i = 0; i < kBarWidth; ++i) bar += i < full ? "█" : "░";
  // Back to the first column, and clear what a longer line left behind.
  out_ << fmt::format("\r\x1b[K{} {} {}", title_, bar, counts);
  open_ = !finished_;
  if (finished_) out_ << "\n";
  out_ << std::flush;
}

}  // namespace lockstep
