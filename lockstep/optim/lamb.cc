// LAMB (You et al. 2020): Adam's direction, with the length of each layer's step made proportional
// to the size of its weights.
//
//   m, v, r as in Adam (adam.h)      u = r + λw
//   w ← w − η · ‖w‖/‖u‖ · u      plain η for layers left out, and where a norm is 0
//
// u is computed twice instead of kept: a vector less to write and to read.
#include <cmath>

#include "lockstep/optim/adam.h"
#include "lockstep/optim/trust.h"

namespace lockstep {
namespace {

class Lamb : public LayerwiseOptimizer {
 public:
  explicit Lamb(const Options& options)
      : LayerwiseOptimizer(options), rates_(options), trust_(options) {
    remember("mean", mean_);
    remember("square", square_);
  }

  bool whole_layers() const override { return true; }

 private:
  void update_layer(const LayerUpdate& update) override {
    const MomentStep step(rates_, update.count);
    const auto inverse = static_cast<float>(1 / step.correction);
    const auto decay = static_cast<float>(update.weight_decay);
    float* __restrict__ w = update.weights;
    const float* __restrict__ g = update.gradients;
    float* __restrict__ m = mean_.data() + update.layer.offset;
    float* __restrict__ v = square_.data() + update.layer.offset;
    const auto direction = [=](std::size_t i) {
      const float adam = inverse * m[i] / (std::sqrt(v[i]) / step.square_root + step.eps);
      return adam + decay * w[i];
    };
    const double squares = sum_terms(update.layer.size, [=](std::size_t i) {
      m[i] = step.keep1 * m[i] + step.add1 * g[i];
      v[i] = step.keep2 * v[i] + step.add2 * g[i] * g[i];
      const double u = direction(i);
      return u * u;
    });
    const double ratio =
        trust_.adapts(update.layer.kind)
            ? Trust::ratio(norm(update.weights, update.layer.size), std::sqrt(squares))
            : 1;
    const auto rate = static_cast<float>(update.lr * ratio);
    for (std::size_t i = 0; i < update.layer.size; ++i) w[i] -= rate * direction(i);
  }

  MomentRates rates_;
  Trust trust_;
  Memory mean_, square_;
};

OptionSet lamb_options() {
  OptionSet options = optimizer_options(0.001, 0.01);
  add_moment_options(options, 1e-6);
  add_trust_options(options);
  return options;
}

const Registration<Optimizer> kLamb{
    "lamb", "Adam whose step in each layer is proportional to the size of its weights.",
    lamb_options(), [](const Options& options) { return std::make_unique<Lamb>(options); }};

}  // namespace
}  // namespace lockstep
