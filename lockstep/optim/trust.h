// Layer-wise rates: in big batches the size of a layer's gradient says little about how far its
// weights may move, so the step is made proportional to the size of the weights (You et al. 2017).
// What LARS and LAMB share: which layers take part, and norms that do not overflow and come out the
// same everywhere.
#pragma once

#include <cmath>
#include <cstddef>

#include "lockstep/base/layer.h"
#include "lockstep/base/options.h"

namespace lockstep {

void add_trust_options(OptionSet& options);  // adapt_norm, adapt_bias

class Trust {
 public:
  explicit Trust(const Options& options);
  // Does a layer of this kind get a rate of its own, or the plain one?
  bool adapts(LayerKind kind) const;
  // weights/step, or 1 where either is 0: then the layer takes the plain rate.
  static double ratio(double weights, double step);

 private:
  bool norm_, bias_;
};

// Σ term(i) in double, in an order that fixes the bits and lets eight terms go at once.
template <typename Term>
double sum_terms(std::size_t n, Term term) {
  constexpr std::size_t kLanes = 8;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (; i < n; ++i) lanes[i % kLanes] += term(i);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

inline double norm(const float* values, std::size_t n) {
  return std::sqrt(sum_terms(n, [values](std::size_t i) {
    const double value = values[i];
    return value * value;
  }));
}

}  // namespace lockstep
