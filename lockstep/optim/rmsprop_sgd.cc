// RMSprop warm-up (Akiba, Suzuki, Fukuda 2017): at the start of training with very big batches SGD
// is hard to keep stable; RMSprop is not, but ends at a worse accuracy. So begin with RMSprop and
// hand over smoothly.
//
//   d ← g + λw      m ← μ₂m + (1−μ₂)d²
//   Δ ← μ₁Δ − (α_sgd + α_rms/(√m+ε)) d      w ← w + ηΔ
//   α_sgd: handover.h, by the epoch      α_rms = (1 − α_sgd) · rms_lr / lr
//
// lr is the option, η the rate of the schedule: RMSprop's rate is rms_lr where the schedule says 1,
// and warm-up, scaling and decay act on both.
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/optim/handover.h"
#include "lockstep/optim/layerwise.h"

namespace lockstep {
namespace {

class RmsPropSgd : public LayerwiseOptimizer {
 public:
  explicit RmsPropSgd(const Options& options)
      : LayerwiseOptimizer(options),
        handover_{.center = options.real("handover_center"),
                  .period = options.real("handover_period")},
        momentum_(options.real("momentum")),
        alpha_(options.real("alpha")),
        eps_(options.real("eps")) {
    if (base_lr() == 0) {
      throw ConfigError(
          "optimizer \"rmsprop-sgd\": option lr is 0; it must be greater than 0, because the "
          "RMSprop part is given relative to it");
    }
    rms_part_ = options.real("rms_lr") / base_lr();
    remember("square", square_);
    remember("move", move_);
  }

 private:
  void update_layer(const LayerUpdate& u) override {
    const double part = handover_.sgd_part(u.epoch);
    const auto sgd = static_cast<float>(part), rms = static_cast<float>((1 - part) * rms_part_);
    const auto lr = static_cast<float>(u.lr), decay = static_cast<float>(u.weight_decay);
    const auto mu = static_cast<float>(momentum_), eps = static_cast<float>(eps_);
    const auto keep = static_cast<float>(alpha_), add = static_cast<float>(1 - alpha_);
    float* __restrict__ w = u.weights;
    const float* __restrict__ g = u.gradients;
    float* __restrict__ m = square_.data() + u.layer.offset;
    float* __restrict__ delta = move_.data() + u.layer.offset;
    for (std::size_t i = 0; i < u.layer.size; ++i) {
      const float d = g[i] + decay * w[i];
      m[i] = keep * m[i] + add * d * d;
      delta[i] = mu * delta[i] - (sgd + rms / (std::sqrt(m[i]) + eps)) * d;
      w[i] += lr * delta[i];
    }
  }

  Handover handover_;
  double rms_part_ = 0, momentum_, alpha_, eps_;
  Memory square_, move_;
};

OptionSet rmsprop_sgd_options() {
  OptionSet options = optimizer_options(0.1);
  options.real("rms_lr", 0.0003, "learning rate of the RMSprop part").above(0);
  options.real("momentum", 0.9, "part of the velocity that is kept").at_least(0).at_most(1);
  options.real("alpha", 0.99, "part of the average of squares that is kept").at_least(0).at_most(1);
  options.real("eps", 1e-8, "keeps the divisor above 0").above(0);
  options.real("handover_center", 10, "epoch at which half is SGD").at_least(0);
  options.real("handover_period", 5, "epochs that the hand-over takes; 0 switches at once")
      .at_least(0);
  return options;
}

const Registration<Optimizer> kRmsPropSgd{
    "rmsprop-sgd", "Begins as RMSprop and hands over smoothly to SGD with momentum.",
    rmsprop_sgd_options(),
    [](const Options& options) { return std::make_unique<RmsPropSgd>(options); }};

}  // namespace
}  // namespace lockstep
