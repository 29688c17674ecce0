// A collapse (Codreanu, Podareanu, Saletore 2017): the rate falls along a line, then in the last
// phase by a power of what is left, to 0. Weight decay is low before the collapse, while there is
// much to find, and high in it, when there is little left to lose.
//
//   x < at:  1 − (1 − from) x/at      else:  from · ((1 − x)/(1 − at))^power
#pragma once

#include "lockstep/base/options.h"
#include "lockstep/optim/schedule.h"

namespace lockstep {

void add_collapse_options(OptionSet& options);

class Collapse {
 public:
  explicit Collapse(const Options& options);
  SchedulePoint point(double x) const;  // x from 0, the beginning, to 1, the end of the collapse

 private:
  double at_, from_, power_;
  double early_weight_decay_, late_weight_decay_;
};

}  // namespace lockstep
