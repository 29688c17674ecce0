#include "lockstep/optim/milestones.h"

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep {

void add_milestone_option(OptionSet& options, std::vector<double> fallback) {
  options.reals("at", std::move(fallback), "fractions of training at which it changes, rising")
      .at_least(0)
      .at_most(1);
}

Milestones::Milestones(const Options& options, const std::string& schedule)
    : at_(options.reals("at")) {
  if (std::adjacent_find(at_.begin(), at_.end(), std::greater_equal<>()) != at_.end()) {
    throw ConfigError(
        "schedule \"{}\": option at is {}; each fraction must be greater than the "
        "one before it",
        schedule, to_text(at_));
  }
}

std::size_t Milestones::passed(double progress) const {
  return static_cast<std::size_t>(std::upper_bound(at_.begin(), at_.end(), progress) - at_.begin());
}

}  // namespace lockstep
