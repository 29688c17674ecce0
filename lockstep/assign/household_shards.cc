// S_H shards for H households: all different (S_H = H) or shared by H/S_H households each; within a
// household the workers divide its shard among themselves. Households with the same samples go
// through them in different orders.
#include "lockstep/assign/household_sharing.h"

namespace lockstep {
namespace {

constexpr const char* kName = "household-shards";

class HouseholdShards : public Assignment {
 public:
  HouseholdShards(std::int64_t households, std::int64_t shards)
      : households_(households), shards_(shards) {}

  double copies(const Layout& layout) const override {
    return households(layout) / static_cast<double>(shards(layout));
  }

 private:
  int households(const Layout& layout) const { return households_or(kName, households_, layout); }
  int shards(const Layout& layout) const {
    const int shards = option_or(shards_, households(layout));
    check_divides(kName, "shards", shards, households(layout), "households");
    return shards;
  }

  Shards share_out(const SampleSet& set, const Layout& layout, std::uint64_t) const override {
    return share_among_households(set, layout.workers, households(layout), shards(layout));
  }

  std::int64_t households_, shards_;
};

OptionSet household_shards_options() {
  OptionSet options = sampling_options();
  options.integer("households", 0, "H, into how many groups the workers fall; 0: as [sync] says")
      .at_least(0)
      .at_most(1e6);
  options.integer("shards", 0, "S_H, how many different shards the households have; 0: one each")
      .at_least(0)
      .at_most(1e6);
  return options;
}

const Registration<Assignment> kHouseholdShards{
    kName, "A shard a household, divided among its workers; households may share one.",
    household_shards_options(), [](const Options& options) {
      return std::make_unique<HouseholdShards>(options.integer("households"),
                                               options.integer("shards"));
    }};

}  // namespace
}  // namespace lockstep
