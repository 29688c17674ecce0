// How a sweep shows where it stands: in a terminal one line for the whole and one for each run
// under way, which redraw themselves below what stays; elsewhere a line for every run that has
// ended.
#pragma once

#include <iosfwd>
#include <string>

#include "apps/sweep_runner.h"

namespace lockstep {

class SweepDisplay {
 public:
  SweepDisplay(std::ostream& out, bool terminal, int columns)
      : out_(out), terminal_(terminal), columns_(columns) {}
  void show(const SweepStanding& standing);
  void close();  // leaves what stays

 private:
  void clear();
  std::string fitted(std::string line) const;

  std::ostream& out_;
  bool terminal_;
  int columns_;
  int drawn_ = 0;  // lines that redraw themselves
};

// "12 min 30 s"
std::string spoken_seconds(double seconds);

}  // namespace lockstep
