// Points of training, as fractions of it, at which a schedule changes: the option `at`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lockstep/base/options.h"

namespace lockstep {

void add_milestone_option(OptionSet& options, std::vector<double> fallback);  // at

class Milestones {
 public:
  // `schedule` names the owner in the error if the points do not rise.
  Milestones(const Options& options, const std::string& schedule);
  std::size_t count() const { return at_.size(); }
  std::size_t passed(double progress) const;  // a point is passed once it is reached

 private:
  std::vector<double> at_;
};

}  // namespace lockstep
