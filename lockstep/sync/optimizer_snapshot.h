// An optimizer's memory as it was: for steps that are tried and taken back.
#pragma once

#include <vector>

#include "lockstep/base/aligned.h"
#include "lockstep/optim/optimizer.h"

namespace lockstep {

class OptimizerSnapshot {
 public:
  void take(Optimizer& optimizer);
  void put_back(Optimizer& optimizer);

 private:
  class Taker;
  class Returner;

  std::vector<AlignedVector<float>> floats_;
  std::vector<std::int64_t> integers_;
  std::vector<double> reals_;
  std::vector<std::vector<std::byte>> bytes_;
};

}  // namespace lockstep
