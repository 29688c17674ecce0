#include "lockstep/optim/adam.h"

#include <cmath>

namespace lockstep {

void add_moment_options(OptionSet& options, double eps) {
  options.real("beta1", 0.9, "part of the average of gradients that is kept")
      .at_least(0)
      .at_most(0.9999999);
  options.real("beta2", 0.999, "part of the average of squares that is kept")
      .at_least(0)
      .at_most(0.9999999);
  options.real("eps", eps, "keeps the divisor above 0").above(0);
}

MomentRates::MomentRates(const Options& options)
    : beta1(options.real("beta1")), beta2(options.real("beta2")), eps(options.real("eps")) {}

MomentStep::MomentStep(const MomentRates& rates, std::int64_t t)
    : keep1(static_cast<float>(rates.beta1)),
      add1(static_cast<float>(1 - rates.beta1)),
      keep2(static_cast<float>(rates.beta2)),
      add2(static_cast<float>(1 - rates.beta2)),
      eps(static_cast<float>(rates.eps)),
      square_root(static_cast<float>(std::sqrt(1 - std::pow(rates.beta2, static_cast<double>(t))))),
      correction(1 - std::pow(rates.beta1, static_cast<double>(t))) {}

Adam::Adam(const Options& options, Decay decay)
    : LayerwiseOptimizer(options), rates_(options), decay_(decay) {
  remember("mean", mean_);
  remember("square", square_);
}

void Adam::update_layer(const LayerUpdate& u) {
  const MomentStep step(rates_, u.count);
  const bool direct = decay_ == Decay::kDirect;
  const auto rate = static_cast<float>(u.lr / step.correction);
  const float decay = direct ? 0.0f : static_cast<float>(u.weight_decay);
  const float shrink = direct ? static_cast<float>(1 - u.lr * u.weight_decay) : 1.0f;
  float* __restrict__ w = u.weights;
  const float* __restrict__ g = u.gradients;
  float* __restrict__ m = mean_.data() + u.layer.offset;
  float* __restrict__ v = square_.data() + u.layer.offset;
  for (std::size_t i = 0; i < u.layer.size; ++i) {
    const float d = g[i] + decay * w[i];
    m[i] = step.keep1 * m[i] + step.add1 * d;
    v[i] = step.keep2 * v[i] + step.add2 * d * d;
    w[i] = shrink * w[i] - rate * (m[i] / (std::sqrt(v[i]) / step.square_root + step.eps));
  }
}

namespace {

OptionSet adam_options() {
  OptionSet options = optimizer_options(0.001);
  add_moment_options(options, 1e-8);
  return options;
}

const Registration<Optimizer> kAdam{
    "adam", "Moving averages of the gradient and its square; weight decay through the gradient.",
    adam_options(), [](const Options& options) {
      return std::make_unique<Adam>(options, Decay::kThroughGradient);
    }};

}  // namespace
}  // namespace lockstep
