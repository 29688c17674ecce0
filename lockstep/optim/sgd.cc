// Stochastic gradient descent with momentum (Polyak 1964) as PyTorch defines it: the velocity is
// free of the rate, so a change of the rate acts at once (the "momentum correction" of Goyal et al.
// 2017 is built in).
//
//   d ← g + λw      v ← μv + (1−δ)d, in the first step v ← d
//   w ← w − η v                plain momentum
//   w ← w − η (d + μv)         Nesterov (Sutskever et al. 2013)
//
// Bound by memory: it reads w, g, v and writes w, v, all in one pass.
#include "lockstep/base/error.h"
#include "lockstep/optim/layerwise.h"

namespace lockstep {
namespace {

void plain_pass(float* __restrict__ w, const float* __restrict__ g, std::size_t n, float lr,
                float decay) {
  for (std::size_t i = 0; i < n; ++i) w[i] -= lr * (g[i] + decay * w[i]);
}

struct Velocity {
  float keep, add;  // v ← keep·v + add·d
  float ahead;      // μ of Nesterov's look ahead
};

template <bool kNesterov>
void momentum_pass(float* __restrict__ w, const float* __restrict__ g, float* __restrict__ v,
                   std::size_t n, float lr, float decay, Velocity velocity) {
  for (std::size_t i = 0; i < n; ++i) {
    const float d = g[i] + decay * w[i];
    const float moved = velocity.keep * v[i] + velocity.add * d;
    v[i] = moved;
    w[i] -= lr * (kNesterov ? d + velocity.ahead * moved : moved);
  }
}

class Sgd : public LayerwiseOptimizer {
 public:
  explicit Sgd(const Options& options)
      : LayerwiseOptimizer(options),
        momentum_(options.real("momentum")),
        dampening_(options.real("dampening")),
        nesterov_(options.flag("nesterov")) {
    if (nesterov_ && (momentum_ == 0 || dampening_ != 0)) {
      throw ConfigError(
          "optimizer \"sgd\": nesterov needs momentum above 0 and dampening 0; momentum is {} and "
          "dampening is {}",
          momentum_, dampening_);
    }
    if (momentum_ != 0) remember("velocity", velocity_);
  }

 private:
  void update_layer(const LayerUpdate& u) override {
    const auto lr = static_cast<float>(u.lr), decay = static_cast<float>(u.weight_decay);
    if (momentum_ == 0) {
      plain_pass(u.weights, u.gradients, u.layer.size, lr, decay);
      return;
    }
    const auto mu = static_cast<float>(momentum_);
    const float add = u.count == 1 ? 1.0f : static_cast<float>(1 - dampening_);
    const auto pass = nesterov_ ? momentum_pass<true> : momentum_pass<false>;
    pass(u.weights, u.gradients, velocity_.data() + u.layer.offset, u.layer.size, lr, decay,
         {.keep = mu, .add = add, .ahead = mu});
  }

  double momentum_, dampening_;
  bool nesterov_;
  Memory velocity_;
};

OptionSet sgd_options() {
  OptionSet options = optimizer_options(0.1);
  options.real("momentum", 0.9, "part of the velocity that is kept").at_least(0).at_most(1);
  options.real("dampening", 0, "part of the gradient that is left out of the velocity")
      .at_least(0)
      .at_most(1);
  options.flag("nesterov", false, "look ahead along the velocity");
  return options;
}

const Registration<Optimizer> kSgd{
    "sgd", "Stochastic gradient descent with momentum or Nesterov's.", sgd_options(),
    [](const Options& options) { return std::make_unique<Sgd>(options); }};

}  // namespace
}  // namespace lockstep
