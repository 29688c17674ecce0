#include "lockstep/assign/assignment.h"

#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"

namespace lockstep {

template <>
Registry<Assignment>& Registry<Assignment>::instance() {
  static Registry<Assignment> registry("assign", "assignment of data");
  return registry;
}

Shards Assignment::assign(const SampleSet& set, const Layout& layout, bool shuffled,
                          std::uint64_t seed) const {
  const std::size_t count = set.samples.size();
  LOCKSTEP_CHECK(set.labels.empty() || set.labels.size() == count, "{} labels for {} samples",
                 set.labels.size(), count);
  if (layout.workers < 1) {
    throw ConfigError("{} workers asked for; there must be at least 1", layout.workers);
  }
  std::vector<SampleId> samples(set.samples.begin(), set.samples.end());
  std::vector<std::int64_t> labels(set.labels.begin(), set.labels.end());
  if (shuffled) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random(seed, "assign").shuffle(std::span(order));
    for (std::size_t i = 0; i < count; ++i) samples[i] = set.samples[order[i]];
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = set.labels[order[i]];
  }
  Shards shards = share_out({samples, labels}, layout, seed);
  for (std::size_t w = 0; w < shards.of.size(); ++w) {
    if (shards.of[w].empty()) {
      throw ConfigError(
          "worker {} would have no samples: {} sample{} shared among {} workers; "
          "use fewer workers or more samples",
          w, count, count == 1 ? " is" : "s are", layout.workers);
    }
  }
  return shards;
}

}  // namespace lockstep
