// Everybody has everything (C = M). Workers go through it in orders of their own.
#include "lockstep/assign/assignment.h"

namespace lockstep {
namespace {

class Full : public Assignment {
 public:
  double copies(const Layout& layout) const override { return layout.workers; }

 private:
  Shards share_out(const SampleSet& set, const Layout& layout, std::uint64_t) const override {
    Shards shards;
    shards.of.assign(static_cast<std::size_t>(layout.workers),
                     {set.samples.begin(), set.samples.end()});
    return shards;
  }
};

const Registration<Assignment> kFull{"full", "Every sample on every worker.", sampling_options(),
                                     [](const Options&) { return std::make_unique<Full>(); }};

}  // namespace
}  // namespace lockstep
