// One-shot averaging (Zinkevich et al. 2010): workers train alone to the end, and their parameters
// are averaged once. Local SGD with a single block.
#include "lockstep/sync/local.h"

namespace lockstep {
namespace {

class OneShot : public LocalSgd {
 public:
  OneShot() : LocalSgd(kNever, OptimizerMemory::kLocal) {}  // nobody steps after the average
  std::optional<std::int64_t> world_period() const override { return {}; }
};

const Registration<SyncStrategy> kOneShot{
    "one-shot",
    "Workers train alone; their parameters are averaged once, at the end.",
    {},
    [](const Options&) { return std::make_unique<OneShot>(); }};

}  // namespace
}  // namespace lockstep
