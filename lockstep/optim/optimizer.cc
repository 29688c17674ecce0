#include "lockstep/optim/optimizer.h"

namespace lockstep {

template <>
Registry<Optimizer>& Registry<Optimizer>::instance() {
  static Registry<Optimizer> registry("optim", "optimizer");
  return registry;
}

}  // namespace lockstep
