// LeNet-5 (LeCun et al. 1998) as it is used today: ReLU, max pooling, softmax.
#include "lockstep/model/chain_replica.h"

namespace lockstep {
namespace {

OptionSet options() {
  OptionSet set;
  set.real("dropout", 0, "share of the neurons of the linear layers that fall out while training")
      .at_least(0)
      .at_most(0.95);
  return set;
}

const Registration<ModelKind> kLenet{
    "lenet", "LeNet-5: two 5 × 5 convolutions with pooling, three linear layers.", options(),
    [](const Options& values) {
      const double dropout = values.real("dropout");
      return std::make_unique<ChainKind>("lenet", [dropout](ChainBuilder& chain) {
        NormShape bias_and_relu;
        bias_and_relu.kind = NormShape::Kind::kNone;
        chain.convolution("conv1", 6, 5, 2).norm("conv1", bias_and_relu).max_pool(2);
        chain.convolution("conv2", 16, 5, 0).norm("conv2", bias_and_relu).max_pool(2);
        chain.flatten();
        chain.linear("linear1", 120, true).dropout("linear1", dropout);
        chain.linear("linear2", 84, true).dropout("linear2", dropout);
        return chain.classifier("classifier");
      });
    }};

}  // namespace
}  // namespace lockstep
