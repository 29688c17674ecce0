#include "lockstep/optim/trust.h"

namespace lockstep {

void add_trust_options(OptionSet& options) {
  options.flag("adapt_norm", false, "do normalisations get a rate of their own, or the plain one?");
  options.flag("adapt_bias", false, "do biases get a rate of their own, or the plain one?");
}

Trust::Trust(const Options& options)
    : norm_(options.flag("adapt_norm")), bias_(options.flag("adapt_bias")) {}

bool Trust::adapts(LayerKind kind) const {
  if (kind == LayerKind::kNorm) return norm_;
  if (kind == LayerKind::kBias) return bias_;
  return true;
}

double Trust::ratio(double weights, double step) {
  return weights > 0 && step > 0 ? weights / step : 1;
}

}  // namespace lockstep
