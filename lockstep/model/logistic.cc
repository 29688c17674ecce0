// Multinomial logistic regression: one linear layer.
#include "lockstep/model/chain_replica.h"

namespace lockstep {
namespace {

const Registration<ModelKind> kLogistic{
    "logistic", "Logistic regression: one linear layer, a convex problem.", {}, [](const Options&) {
      return std::make_unique<ChainKind>(
          "logistic", [](ChainBuilder& chain) { return chain.flatten().classifier("classifier"); });
    }};

}  // namespace
}  // namespace lockstep
