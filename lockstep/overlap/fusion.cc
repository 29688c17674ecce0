// Tensor fusion (Horovod, Sergeev and Del Balso 2018; the buckets of PyTorch DDP, Li et al. 2020):
// layers are gathered until they have some bytes, then they leave together. Nothing is measured;
// the right threshold depends on the network.
#include "lockstep/base/text.h"
#include "lockstep/overlap/bucketing.h"

namespace lockstep {
namespace {

class Fusion : public Bucketing {
 public:
  explicit Fusion(std::size_t threshold) : threshold_(threshold) {}

  Buckets plan(const BackwardProfile& profile) const override {
    Buckets ends;
    std::size_t gathered = 0;
    for (std::size_t i = 0; i < profile.bytes.size(); ++i) {
      gathered += profile.bytes[i];
      if (gathered < threshold_ && i + 1 < profile.bytes.size()) continue;
      ends.push_back(i + 1);
      gathered = 0;
    }
    return ends;
  }

 private:
  std::size_t threshold_;
};

OptionSet fusion_options() {
  OptionSet options;
  options.text("threshold", "4M", "bytes from which gathered layers leave, such as 512K or 25M");
  return options;
}

const Registration<Bucketing> kFusion{
    "fusion", "Layers leave together as soon as they have some bytes.", fusion_options(),
    [](const Options& options) {
      return std::make_unique<Fusion>(parse_size(options.text("threshold"), "[overlap] threshold"));
    }};

}  // namespace
}  // namespace lockstep
