// How RMSprop hands over to SGD (Akiba, Suzuki, Fukuda 2017): the part of SGD grows exponentially
// to ½ at `center`, then along a line of the same slope to 1 at center + period/2 (the shape of the
// ELU activation), and stays there. A pure function of the epoch.
#pragma once

#include <cmath>

namespace lockstep {

struct Handover {
  double center, period;  // in epochs; period 0 switches at once

  double sgd_part(double epoch) const {
    if (period == 0) return epoch < center ? 0 : 1;
    const double x = (epoch - center) / period;
    if (x < 0) return 0.5 * std::exp(2 * x);
    return x < 0.5 ? 0.5 + x : 1;
  }
};

}  // namespace lockstep
