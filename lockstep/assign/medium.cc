// M shards on a ring, worker i has shards i, i+1, …, i+C−1 (mod M): it has samples in common with
// the C−1 workers on either side of it, fewer the further away.
#include "lockstep/assign/sharing.h"

namespace lockstep {
namespace {

class Medium : public Assignment {
 public:
  explicit Medium(int copies) : copies_(copies) {}

  double copies(const Layout& layout) const override {
    check_copies("medium", copies_, layout.workers);
    return copies_;
  }

 private:
  Shards share_out(const SampleSet& set, const Layout& layout, std::uint64_t) const override {
    check_copies("medium", copies_, layout.workers);
    const auto workers = static_cast<std::size_t>(layout.workers);
    Shards shards;
    shards.of.resize(workers);
    for (std::size_t j = 0; j < set.samples.size(); ++j) {
      for (std::size_t back = 0; back < static_cast<std::size_t>(copies_); ++back) {
        shards.of[(j % workers + workers - back) % workers].push_back(set.samples[j]);
      }
    }
    return shards;
  }

  int copies_;
};

OptionSet medium_options() {
  OptionSet options = sampling_options();
  add_copies_option(options);
  return options;
}

const Registration<Assignment> kMedium{
    "medium", "Shards on a ring: neighbours have samples in common, fewer the further apart.",
    medium_options(), [](const Options& options) {
      return std::make_unique<Medium>(static_cast<int>(options.integer("copies")));
    }};

}  // namespace
}  // namespace lockstep
