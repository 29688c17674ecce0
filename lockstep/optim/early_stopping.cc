#include "lockstep/optim/early_stopping.h"

#include "lockstep/base/error.h"

namespace lockstep {

EarlyStopping::EarlyStopping(std::int64_t patience, double min_improvement, Better better)
    : patience_(patience),
      min_improvement_(min_improvement),
      sign_(better == Better::kHigher ? 1 : -1) {
  LOCKSTEP_CHECK(patience >= 0 && min_improvement >= 0, "patience {}, improvement {}", patience,
                 min_improvement);
}

bool EarlyStopping::record(double value) {
  if (sign_ * value > best_ + min_improvement_) {
    best_ = sign_ * value;
    since_best_ = 0;
    return true;
  }
  ++since_best_;
  return false;
}

void EarlyStopping::state(StateVisitor& visitor) {
  visitor.real("best", best_);
  visitor.integer("since_best", since_best_);
}

}  // namespace lockstep
