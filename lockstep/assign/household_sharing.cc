#include "lockstep/assign/household_sharing.h"

#include "lockstep/base/error.h"

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

int households_or(const std::string& assignment, std::int64_t option, const Layout& layout) {
  if (option == 0 && !layout.equal_households) {
    throw ConfigError(
        "assignment {} shares samples out to equal households, and those of [sync] have different "
        "sizes; use another assignment, such as disjoint, or equal households",
        assignment);
  }
  const int households = option_or(option, layout.households);
  check_divides(assignment, "households", households, layout.workers, "workers");
  return households;
}

}  // namespace lockstep
