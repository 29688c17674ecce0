// AdamW (Loshchilov & Hutter 2019): Adam whose weight decay acts on the weights themselves.
#include "lockstep/optim/adam.h"

namespace lockstep {
namespace {

OptionSet adamw_options() {
  OptionSet options = optimizer_options(0.001, 0.01);
  add_moment_options(options, 1e-8);
  return options;
}

const Registration<Optimizer> kAdamW{
    "adamw", "Adam with weight decay on the weights themselves instead of through the gradient.",
    adamw_options(),
    [](const Options& options) { return std::make_unique<Adam>(options, Decay::kDirect); }};

}  // namespace
}  // namespace lockstep
