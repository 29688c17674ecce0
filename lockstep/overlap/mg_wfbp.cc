// Merged-gradient wait-free back-propagation (Shi, Chu, Li 2019): neighbouring layers are merged
// where the start-up α that a merge saves outweighs the wait for the later one. The paper merges a
// layer with the next if that one is ready before α is over; here the same model of time is solved
// for its best end,
//
//   end(j) = min over i < j of  max(end(i), ready(j)) + α + β·bytes(i … j)
//
// which is exact, as an earlier end never makes a later one worse. With α = 0 it ends when wfbp
// does, with a very large α one bucket. Of plans that end together, fewer buckets win.
#include <algorithm>
#include <limits>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/overlap/bucketing.h"

namespace lockstep {
namespace {

class MgWfbp : public Bucketing {
 public:
  bool measures() const override { return true; }

  Buckets plan(const BackwardProfile& profile) const override {
    const std::size_t n = profile.bytes.size();
    LOCKSTEP_CHECK(profile.ready.size() == n, "{} layers, {} times", n, profile.ready.size());
    std::vector<double> sizes(n + 1);
    std::partial_sum(profile.bytes.begin(), profile.bytes.end(), sizes.begin() + 1, std::plus<>());
    struct Best {
      double end = std::numeric_limits<double>::infinity();
      std::size_t buckets = 0, from = 0;
    };
    std::vector<Best> best(n + 1);
    best[0].end = 0;
    for (std::size_t j = 1; j <= n; ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const double end = std::max(best[i].end, profile.ready[j - 1]) + profile.alpha +
                           profile.beta * (sizes[j] - sizes[i]);
        const std::size_t buckets = best[i].buckets + 1;
        if (end < best[j].end || (end == best[j].end && buckets < best[j].buckets)) {
          best[j] = {end, buckets, i};
        }
      }
    }
    Buckets ends;
    for (std::size_t j = n; j > 0; j = best[j].from) ends.push_back(j);
    std::ranges::reverse(ends);
    return ends;
  }
};

const Registration<Bucketing> kMgWfbp{
    "mg-wfbp", "Layers leave merged as measured times say is best.", {}, [](const Options&) {
      return std::make_unique<MgWfbp>();
    }};

}  // namespace
}  // namespace lockstep
