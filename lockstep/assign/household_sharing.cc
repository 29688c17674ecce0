#include "lockstep/assign/household_sharing.h"

namespace lockstep {

Shards share_among_households(const SampleSet& set, int workers, int households, int shards) {
  const int members = workers / households;
  Shards result;
  for (int household = 0; household < households; ++household) {
    const auto own = deal(set.samples, shards, household % shards);
    for (int member = 0; member < members; ++member) {
      result.of.push_back(deal(own, members, member));
    }
  }
  return result;
}

int option_or(std::int64_t option, int layout) {
  return option == 0 ? layout : static_cast<int>(option);
}

}  // namespace lockstep
