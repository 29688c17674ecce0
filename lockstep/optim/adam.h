// Adam (Kingma & Ba 2015) and its descendants keep two moving averages: of the gradient and of its
// square. Both start at 0, which the corrections make up for.
//
//   m ← β₁m + (1−β₁)d      v ← β₂v + (1−β₂)d²
//   r = (m / (1−β₁ᵗ)) / (√v / √(1−β₂ᵗ) + ε)      t = 1 in the first update
#pragma once

#include "lockstep/optim/layerwise.h"

namespace lockstep {

void add_moment_options(OptionSet& options, double eps);  // beta1, beta2, eps

struct MomentRates {
  explicit MomentRates(const Options& options);
  double beta1, beta2, eps;
};

// The rates at update t as the passes need them.
struct MomentStep {
  MomentStep(const MomentRates& rates, std::int64_t t);
  float keep1, add1, keep2, add2, eps;
  float square_root;  // √(1−β₂ᵗ)
  double correction;  // 1−β₁ᵗ
};

// Adam draws weights to 0 through the gradient (d = g + λw), where the division by √v undoes much
// of it; AdamW directly (w ← w − ηλw; Loshchilov & Hutter 2019). Then w ← w − ηr.
enum class Decay { kThroughGradient, kDirect };

class Adam : public LayerwiseOptimizer {
 public:
  Adam(const Options& options, Decay decay);

 private:
  void update_layer(const LayerUpdate& update) override;

  MomentRates rates_;
  Decay decay_;
  Memory mean_, square_;
};

}  // namespace lockstep
