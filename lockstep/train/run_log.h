// log.txt of a run: what happened, with the seconds since its begin, one line each. It has no clock
// of its own: callers hand in seconds, wall or simulated.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace lockstep {

class RunLog {
 public:
  // Goes on behind what is there. DataError if it cannot be written.
  explicit RunLog(const std::string& path);

  // "     12.345 s  text"; the further lines of a longer text are set in under the first. On the
  // disk's side at once, so that a run that is killed leaves what it said.
  void write(double seconds, std::string_view text);

 private:
  std::string path_;
  std::ofstream file_;
};

}  // namespace lockstep
