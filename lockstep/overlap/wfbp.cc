// Wait-free back-propagation (Zhang et al., Poseidon, 2017; Awan et al., S-Caffe, 2017): a layer's
// gradient leaves as soon as backward has made it. Hides most where an average starts quickly; many
// small layers pay α each.
#include <numeric>

#include "lockstep/overlap/bucketing.h"

namespace lockstep {
namespace {

class Wfbp : public Bucketing {
 public:
  Buckets plan(const BackwardProfile& profile) const override {
    Buckets ends(profile.bytes.size());
    std::iota(ends.begin(), ends.end(), std::size_t{1});
    return ends;
  }
};

const Registration<Bucketing> kWfbp{
    "wfbp", "Every layer's gradient leaves as soon as it is there.", {}, [](const Options&) {
      return std::make_unique<Wfbp>();
    }};

}  // namespace
}  // namespace lockstep
