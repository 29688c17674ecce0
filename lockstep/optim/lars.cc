// LARS, layer-wise adaptive rate scaling (You, Gitman, Ginsburg 2017): SGD with momentum in which
// each layer has a rate in proportion to the size of its weights and against that of its gradient.
//
//   η_l = trust · ‖w‖ / (‖g‖ + λ‖w‖)      1 for layers left out, and where a norm is 0
//   v ← μv + η_l (g + λw)      w ← w − η v
//
// As in sgd, and unlike the paper's listing, η stands outside the velocity, so that a change of it
// acts at once; with a constant η the two are the same.
#include "lockstep/optim/layerwise.h"
#include "lockstep/optim/trust.h"

namespace lockstep {
namespace {

class Lars : public LayerwiseOptimizer {
 public:
  explicit Lars(const Options& options)
      : LayerwiseOptimizer(options),
        trust_(options),
        coefficient_(options.real("trust")),
        momentum_(options.real("momentum")) {
    remember("velocity", velocity_);
  }

  bool whole_layers() const override { return true; }

 private:
  double local_rate(const LayerUpdate& u) const {
    if (!trust_.adapts(u.layer.kind)) return 1;
    const double weights = norm(u.weights, u.layer.size);
    const double gradient = norm(u.gradients, u.layer.size);
    if (weights == 0 || gradient == 0) return 1;
    return coefficient_ * Trust::ratio(weights, gradient + u.weight_decay * weights);
  }

  void update_layer(const LayerUpdate& u) override {
    const auto local = static_cast<float>(local_rate(u));
    const auto lr = static_cast<float>(u.lr), decay = static_cast<float>(u.weight_decay);
    const auto mu = static_cast<float>(momentum_);
    float* __restrict__ w = u.weights;
    const float* __restrict__ g = u.gradients;
    float* __restrict__ v = velocity_.data() + u.layer.offset;
    for (std::size_t i = 0; i < u.layer.size; ++i) {
      v[i] = mu * v[i] + local * (g[i] + decay * w[i]);
      w[i] -= lr * v[i];
    }
  }

  Trust trust_;
  double coefficient_, momentum_;
  Memory velocity_;
};

OptionSet lars_options() {
  OptionSet options = optimizer_options(1, 1e-4);
  options.real("trust", 0.001, "how far a layer may move, relative to its weights").above(0);
  options.real("momentum", 0.9, "part of the velocity that is kept").at_least(0).at_most(1);
  add_trust_options(options);
  return options;
}

const Registration<Optimizer> kLars{
    "lars", "SGD whose rate in each layer is proportional to the size of its weights.",
    lars_options(), [](const Options& options) { return std::make_unique<Lars>(options); }};

}  // namespace
}  // namespace lockstep
