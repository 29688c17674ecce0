// The ResNets for small images (He et al. 2016, section 4.2): a convolution, three stages of n
// blocks with 16, 32 and 64 channels (times `width`), the later two at half the resolution of the
// one before, global pooling and a linear layer: 6n + 2 layers with weights. Shortcuts are option A
// (without parameters).
#include "lockstep/model/chain_replica.h"

namespace lockstep {
namespace {

OptionSet options() {
  OptionSet set;
  set.integer("depth", 20, "layers with weights: 8, 14, 20, 26, 32, 44, 56, 110, any 6n + 2")
      .at_least(8)
      .at_most(1202);
  set.integer("width", 1, "factor of the numbers of channels 16, 32, 64").at_least(1).at_most(64);
  set.text("norm", "batch", "normalisation").one_of({"batch", "group", "none"});
  set.integer("groups", 8, "groups of channels of group norm").at_least(1);
  return set;
}

NormShape norm_shape(const ChainBuilder& chain, const std::string& name, std::int64_t groups) {
  NormShape shape;
  if (name == "batch") return chain.batch_norm();
  shape.kind = name == "group" ? NormShape::Kind::kGroup : NormShape::Kind::kNone;
  shape.groups = groups;
  return shape;
}

std::unique_ptr<ModelKind> make(const Options& values) {
  const std::int64_t depth = values.integer("depth"), width = values.integer("width");
  const std::int64_t groups = values.integer("groups");
  const std::string norm = values.text("norm");
  if ((depth - 2) % 6 != 0) {
    throw ConfigError("model \"resnet\": depth must be 6n + 2, not {}; nearest: {} and {}", depth,
                      (depth - 2) / 6 * 6 + 2, (depth - 2) / 6 * 6 + 8);
  }
  if (norm == "group" && 16 * width % groups != 0) {
    throw ConfigError(
        "model \"resnet\": groups must divide the {} channels of the first stage, "
        "and {} does not",
        16 * width, groups);
  }
  return std::make_unique<ChainKind>("resnet", [=](ChainBuilder& chain) {
    const NormShape shape = norm_shape(chain, norm, groups);
    chain.convolution("stem.conv", 16 * width, 3, 1).norm("stem.norm", shape);
    for (int stage = 0; stage < 3; ++stage) {
      for (std::int64_t block = 0; block < (depth - 2) / 6; ++block) {
        const int stride = stage > 0 && block == 0 ? 2 : 1;
        chain.residual_block(fmt::format("stage{}.block{}", stage + 1, block + 1),
                             (16 * width) << stage, stride, shape);
      }
    }
    return chain.global_pool().classifier("classifier");
  });
}

const Registration<ModelKind> kResnet{
    "resnet", "ResNet for small images: 6n + 2 layers, option-A shortcuts.", options(), make};

}  // namespace
}  // namespace lockstep
