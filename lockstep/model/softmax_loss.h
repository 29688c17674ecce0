// Cross entropy of a softmax, with label smoothing (Szegedy et al. 2016): loss, hits and the
// gradient of the logits in one go over each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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
          std::span<float> gradient) const;
};

}  // namespace lockstep
