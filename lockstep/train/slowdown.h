// Workers made slow on purpose, so that the differences between strategies can be seen: some by a
// constant factor ([cluster] slow), all of them at random ([cluster] jitter).
#pragma once

#include <cstdint>
#include <map>

#include "lockstep/base/options.h"

namespace lockstep {

class Slowdown {
 public:
  // Reads slow and jitter. A ConfigError says which entry is wrong.
  Slowdown(const Options& cluster, int workers, std::uint64_t seed);

  // How many times as long the step takes the worker. At random: log-normal with median 1, a pure
  // function of seed, worker and step.
  double factor(int worker, std::int64_t step) const;

 private:
  std::map<int, double> slow_;
  double jitter_;
  std::uint64_t seed_;
};

}  // namespace lockstep
