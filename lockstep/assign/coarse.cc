// S < M shards, worker i has shard i mod S: groups of C = M/S workers have the same samples, and
// workers of different groups none in common.
#include "lockstep/assign/sharing.h"

namespace lockstep {
namespace {

class Coarse : public Assignment {
 public:
  Coarse(int copies, int shards) : copies_(copies), shards_(shards) {}

  double copies(const Layout& layout) const override {
    return layout.workers / static_cast<double>(shards(layout));
  }

 private:
  int shards(const Layout& layout) const {
    if (shards_ > 0) {
      check_divides("coarse", "shards", shards_, layout.workers, "workers");
      return shards_;
    }
    check_divides("coarse", "copies", copies_, layout.workers, "workers");
    return layout.workers / copies_;
  }

  Shards share_out(const SampleSet& set, const Layout& layout, std::uint64_t) const override {
    const int count = shards(layout);
    Shards result;
    for (int w = 0; w < layout.workers; ++w) {
      result.of.push_back(deal(set.samples, count, w % count));
    }
    return result;
  }

  int copies_, shards_;
};

OptionSet coarse_options() {
  OptionSet options = sampling_options();
  add_copies_option(options);
  options.integer("shards", 0, "S, how many different shards there are; 0: workers / copies")
      .at_least(0)
      .at_most(1e6);
  return options;
}

const Registration<Assignment> kCoarse{
    "coarse", "Groups of workers with the same samples, and none in common between groups.",
    coarse_options(), [](const Options& options) {
      return std::make_unique<Coarse>(static_cast<int>(options.integer("copies")),
                                      static_cast<int>(options.integer("shards")));
    }};

}  // namespace
}  // namespace lockstep
