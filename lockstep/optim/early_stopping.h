// When to give up: validation has not improved for a while (Prechelt 1998). Counts validations; the
// caller decides how far apart they are.
#pragma once

#include <cstdint>
#include <limits>

#include "lockstep/base/state.h"

namespace lockstep {

class EarlyStopping {
 public:
  enum class Better { kHigher, kLower };  // accuracy or loss

  // Stops after `patience` validations in a row that were not better than the best by more than
  // `min_improvement`. Patience 0 never stops.
  EarlyStopping(std::int64_t patience, double min_improvement, Better better = Better::kHigher);

  // Takes in one validation; was it the best so far? The first is, unless it is NaN, which never
  // is.
  bool record(double value);
  bool should_stop() const { return patience_ > 0 && since_best_ >= patience_; }

  double best() const { return sign_ * best_; }  // minus or plus infinity before the first
  std::int64_t since_best() const { return since_best_; }

  void state(StateVisitor& visitor);

 private:
  std::int64_t patience_;
  double min_improvement_;
  double sign_;  // −1 turns lower-is-better round
  double best_ = -std::numeric_limits<double>::infinity();
  std::int64_t since_best_ = 0;
};

}  // namespace lockstep
