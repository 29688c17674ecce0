// Cross entropy of a softmax, with label smoothing (Szegedy et al. 2016) and with soft targets
// (Hinton et al. 2015): loss, hits and the gradient of the logits in one go over each row.
//
// With soft targets q of weight v a row costs −log p(label) − v · Σ_c q_c log p_c, p = softmax(z).
// The model's own prediction is not softened, so there is no factor T² to make up for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lockstep/data/batch.h"

namespace lockstep {

struct SoftmaxLoss {
  std::size_t classes = 0;
  double smoothing =
      0;  // the target is 1 − smoothing for the label, plus smoothing/classes for all

  struct Sum {
    double loss = 0;
    std::size_t correct = 0;
  };
  // `logits` has a row of `classes` for every label. Unless empty, `gradient` becomes `scale` times
  // the gradient of the sum of the losses; it may be `logits` itself.
  Sum run(std::span<const float> logits, std::span<const std::int64_t> labels, float scale,
          std::span<float> gradient, const SoftTargets& soft = {}) const;
};

}  // namespace lockstep
