#include "lockstep/model/softmax_loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lockstep/base/error.h"

namespace lockstep {

SoftmaxLoss::Sum SoftmaxLoss::run(std::span<const float> logits,
                                  std::span<const std::int64_t> labels, float scale,
                                  std::span<float> gradient, const SoftTargets& soft) const {
  LOCKSTEP_CHECK(logits.size() == labels.size() * classes, "{} logits for {} labels of {} classes",
                 logits.size(), labels.size(), classes);
  const std::span<const float> targets = soft.probabilities;
  LOCKSTEP_CHECK(targets.empty() || targets.size() == logits.size(),
                 "{} soft targets for {} logits", targets.size(), logits.size());
  Sum sum;
  std::vector<float> exponentials(classes);
  const double everywhere = smoothing / static_cast<double>(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = logits.subspan(i * classes, classes);
    const auto label = static_cast<std::size_t>(labels[i]);
    if (label >= classes) {
      throw DataError("label {} of a sample is outside 0 … {}", labels[i], classes - 1);
    }
    const auto largest = std::max_element(row.begin(), row.end());
    if (static_cast<std::size_t>(largest - row.begin()) == label) ++sum.correct;
    double total = 0, logit_sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      exponentials[c] = std::exp(row[c] - *largest);
      total += exponentials[c];
      logit_sum += row[c];
    }
    const double log_total = std::log(total) + *largest;
    sum.loss += log_total - (1 - smoothing) * row[label] - everywhere * logit_sum;
    const auto drawn = targets.empty() ? targets : targets.subspan(i * classes, classes);
    if (!drawn.empty()) {
      double expected = 0;
      for (std::size_t c = 0; c < classes; ++c) expected += double(drawn[c]) * row[c];
      sum.loss += soft.weight * (log_total - expected);
    }
    if (gradient.empty()) continue;
    const auto out = gradient.subspan(i * classes, classes);
    const auto norm = static_cast<float>(1 / total);
    const auto spread = static_cast<float>(everywhere);
    for (std::size_t c = 0; c < classes; ++c) out[c] = scale * (exponentials[c] * norm - spread);
    out[label] -= scale * static_cast<float>(1 - smoothing);
    for (std::size_t c = 0; c < drawn.size(); ++c) {
      out[c] += scale * soft.weight * (exponentials[c] * norm - drawn[c]);
    }
  }
  return sum;
}

}  // namespace lockstep
