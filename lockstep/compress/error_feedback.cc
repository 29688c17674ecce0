#include "lockstep/compress/error_feedback.h"

#include <algorithm>

#include "lockstep/compress/kernels.h"

namespace lockstep {

void ErrorFeedback::prepare(std::span<const Layer> layers) {
  OnRuns::prepare(layers);
  inner_->prepare(layers);
  residual_.assign(end(), 0.0f);
}

void ErrorFeedback::take(std::span<const float> values) {
  for (const Range& run : runs()) {
    compress_kernels().accumulate(values.data() + run.begin, run.size,
                                  residual_.data() + run.begin);
  }
}

void ErrorFeedback::encode(std::span<const float> values, const Moment& moment, Bytes& out) {
  take(values);
  const std::size_t begin = out.size();
  inner_->encode(residual_, moment, out);
  inner_->add(out.view().subspan(begin), -1, residual_);
}

void ErrorFeedback::release(std::span<float> sum) {
  for (const Range& run : runs()) {
    compress_kernels().accumulate(residual_.data() + run.begin, run.size, sum.data() + run.begin);
  }
  std::ranges::fill(residual_, 0.0f);
}

std::span<float> ErrorFeedback::summands(int round, std::span<const float> values,
                                         std::span<float> mean, const Moment& moment) {
  if (round == 0) take(values);
  return inner_->summands()->summands(round, residual_, mean, moment);
}

void ErrorFeedback::finish(std::span<float> mean, std::span<float>) {
  inner_->summands()->finish(mean, residual_);
}

// Two more passes over memory: adding, and taking off what was sent.
Speed ErrorFeedback::speed() const {
  constexpr double kPass = 8e9;
  const Speed inner = inner_->speed();
  return {1 / (1 / inner.encode + 1 / inner.decode + 1 / kPass), inner.decode};
}

void ErrorFeedback::state(StateVisitor& visitor) {
  visitor.floats("residual", residual_);
  inner_->state(visitor);
}

}  // namespace lockstep
