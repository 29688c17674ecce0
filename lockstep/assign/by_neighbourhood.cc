// NB neighbourhoods of H/NB households. Each neighbourhood has all samples; its households, and
// the workers in them, have none in common. These are household shards with S_H = H/NB.
#include "lockstep/assign/household_sharing.h"

namespace lockstep {
namespace {

constexpr const char* kName = "by-neighbourhood";

class ByNeighbourhood : public Assignment {
 public:
  ByNeighbourhood(std::int64_t households, std::int64_t neighbourhoods)
      : households_(households), neighbourhoods_(neighbourhoods) {}

  double copies(const Layout& layout) const override { return neighbourhoods(layout); }

 private:
  int households(const Layout& layout) const { return households_or(kName, households_, layout); }
  int neighbourhoods(const Layout& layout) const {
    const int neighbourhoods = option_or(neighbourhoods_, layout.neighbourhoods);
    check_divides(kName, "neighbourhoods", neighbourhoods, households(layout), "households");
    return neighbourhoods;
  }

  Shards share_out(const SampleSet& set, const Layout& layout, std::uint64_t) const override {
    const int count = households(layout);
    return share_among_households(set, layout.workers, count, count / neighbourhoods(layout));
  }

  std::int64_t households_, neighbourhoods_;
};

OptionSet by_neighbourhood_options() {
  OptionSet options = sampling_options();
  options.integer("households", 0, "H, into how many groups the workers fall; 0: as [sync] says")
      .at_least(0)
      .at_most(1e6);
  options
      .integer("neighbourhoods", 0,
               "NB, into how many groups the households fall; 0: as [sync] says")
      .at_least(0)
      .at_most(1e6);
  return options;
}

const Registration<Assignment> kByNeighbourhood{
    kName, "Each neighbourhood has all samples, its households none in common.",
    by_neighbourhood_options(), [](const Options& options) {
      return std::make_unique<ByNeighbourhood>(options.integer("households"),
                                               options.integer("neighbourhoods"));
    }};

}  // namespace
}  // namespace lockstep
