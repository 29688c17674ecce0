// One shard a worker, nothing in common (C = 1): samples are dealt like cards.
#include "lockstep/assign/sharing.h"

namespace lockstep {
namespace {

class Disjoint : public Assignment {
 public:
  double copies(const Layout&) const override { return 1; }

 private:
  Shards share_out(const SampleSet& set, const Layout& layout, std::uint64_t) const override {
    Shards shards;
    for (int w = 0; w < layout.workers; ++w) {
      shards.of.push_back(deal(set.samples, layout.workers, w));
    }
    return shards;
  }
};

const Registration<Assignment> kDisjoint{
    "disjoint", "Every sample on one worker.", sampling_options(),
    [](const Options&) { return std::make_unique<Disjoint>(); }};

}  // namespace
}  // namespace lockstep
