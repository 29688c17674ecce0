#include "lockstep/sync/periods.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

std::int64_t warm_period(Growth growth, double progress, std::int64_t longest) {
  const auto most = static_cast<double>(longest);
  return std::llround(growth == Growth::kGeometric ? std::pow(most, progress)
                                                   : 1 + (most - 1) * progress);
}

std::int64_t adacomm_period(double loss, double first_loss, std::int64_t first,
                            std::int64_t current, double shrink) {
  const double wanted = std::ceil(std::sqrt(loss / first_loss) * static_cast<double>(first));
  // A first loss of 0 leaves no number to compare with, which counts as not shorter.
  const bool shorter = wanted < static_cast<double>(current);
  const double next = shorter ? wanted : std::ceil(shrink * static_cast<double>(current));
  return static_cast<std::int64_t>(std::max(1.0, next));
}

}  // namespace lockstep
