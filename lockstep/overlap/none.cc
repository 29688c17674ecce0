// No overlap: after the whole backward pass, one exchange.
#include "lockstep/overlap/bucketing.h"

namespace lockstep {
namespace {

class None : public Bucketing {
 public:
  bool overlaps() const override { return false; }
  Buckets plan(const BackwardProfile& profile) const override { return {profile.bytes.size()}; }
};

const Registration<Bucketing> kNone{
    "none", "Gradients leave together when backward is over.", {}, [](const Options&) {
      return std::make_unique<None>();
    }};

}  // namespace
}  // namespace lockstep
