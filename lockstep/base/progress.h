// Progress of long work: one line that redraws itself in a terminal, a plain line now and then
// elsewhere. It has no clock of its own: callers hand in seconds, wall or simulated.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace lockstep {

class Progress {
 public:
  enum class Style { kTerminal, kPlain };

  // To standard error, in the style that fits it.
  Progress(std::string title, std::uint64_t total);
  Progress(std::string title, std::uint64_t total, std::ostream& out, Style style);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Draws at most every 0.1 s (terminal) or 10 s (plain); the first and the last are always drawn.
  // The last is the first with done = total: updates after it are not drawn.
  void update(std::uint64_t done, double now_seconds, const std::string& note = "");
  // A line that stays, above the one that redraws itself.
  void say(const std::string& line);

 private:
  void draw(std::uint64_t done, double now, const std::string& note);

  std::string title_;
  std::uint64_t total_;
  std::ostream& out_;
  Style style_;
  double began_ = 0;
  double drawn_ = 0;
  std::uint64_t first_ = 0;  // what was done when it began: resumed work does not begin at 0
  bool any_ = false;
  bool finished_ = false;
  bool open_ = false;  // a terminal line without its end
};

bool stderr_is_terminal();
bool stdout_is_terminal();

}  // namespace lockstep
