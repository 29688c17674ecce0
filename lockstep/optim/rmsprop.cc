// RMSprop (Tieleman & Hinton 2012) as PyTorch defines it: each weight's gradient is divided by the
// root of a moving average of its squares. Centred (Graves 2013) divides by the deviation instead.
//
//   d ← g + λw      s ← αs + (1−α)d²      [a ← αa + (1−α)d]
//   r ← d / (√s + ε)   or, centred,   d / (√(s − a²) + ε)
//   [v ← μv + r]      w ← w − η r, or η v with momentum
#include <cmath>

#include "lockstep/optim/layerwise.h"

namespace lockstep {
namespace {

class RmsProp : public LayerwiseOptimizer {
 public:
  explicit RmsProp(const Options& options)
      : LayerwiseOptimizer(options),
        alpha_(options.real("alpha")),
        eps_(static_cast<float>(options.real("eps"))),
        momentum_(static_cast<float>(options.real("momentum"))),
        centered_(options.flag("centered")) {
    remember("square", square_);
    if (centered_) remember("mean", mean_);
    if (momentum_ != 0) remember("velocity", velocity_);
  }

 private:
  void update_layer(const LayerUpdate& update) override {
    if (centered_) {
      momentum_ != 0 ? pass<true, true>(update) : pass<true, false>(update);
    } else {
      momentum_ != 0 ? pass<false, true>(update) : pass<false, false>(update);
    }
  }

  template <bool kCentered, bool kMomentum>
  void pass(const LayerUpdate& u) {
    const auto lr = static_cast<float>(u.lr), decay = static_cast<float>(u.weight_decay);
    const auto keep = static_cast<float>(alpha_), add = static_cast<float>(1 - alpha_);
    const float eps = eps_, mu = momentum_;
    float* __restrict__ w = u.weights;
    const float* __restrict__ g = u.gradients;
    float* __restrict__ s = square_.data() + u.layer.offset;
    float* __restrict__ a = kCentered ? mean_.data() + u.layer.offset : nullptr;
    float* __restrict__ v = kMomentum ? velocity_.data() + u.layer.offset : nullptr;
    for (std::size_t i = 0; i < u.layer.size; ++i) {
      const float d = g[i] + decay * w[i];
      float spread = s[i] = keep * s[i] + add * d * d;
      if constexpr (kCentered) {
        a[i] = keep * a[i] + add * d;
        // Rounding can take the variance a little below 0 where the gradient hardly changes.
        const float variance = spread - a[i] * a[i];
        spread = variance > 0 ? variance : 0;
      }
      float move = d / (std::sqrt(spread) + eps);
      if constexpr (kMomentum) move = v[i] = mu * v[i] + move;
      w[i] -= lr * move;
    }
  }

  double alpha_;
  float eps_, momentum_;
  bool centered_;
  Memory square_, mean_, velocity_;
};

OptionSet rmsprop_options() {
  OptionSet options = optimizer_options(0.01);
  options.real("alpha", 0.99, "part of the average of squares that is kept").at_least(0).at_most(1);
  options.real("eps", 1e-8, "keeps the divisor above 0").above(0);
  options.real("momentum", 0, "part of the velocity that is kept").at_least(0).at_most(1);
  options.flag("centered", false, "divide by the deviation instead of the root mean square");
  return options;
}

const Registration<Optimizer> kRmsProp{
    "rmsprop", "Gradients divided by the root of the moving average of their squares.",
    rmsprop_options(), [](const Options& options) { return std::make_unique<RmsProp>(options); }};

}  // namespace
}  // namespace lockstep
