// The strategies that step alone and average every so often, in settings that fit a short run.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

using Settings = std::vector<std::string>;

inline Settings together(Settings left, const Settings& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// One setting of each, and those of households that fit the number of workers.
inline std::vector<Settings> local_family(int workers) {
  std::vector<Settings> family{{"sync.name=local", "sync.period=3"},
                               {"sync.name=local", "sync.period=5", "sync.momentum=reset"},
                               {"sync.name=local", "sync.period=4", "sync.momentum=average"},
                               {"sync.name=one-shot"},
                               {"sync.name=post-local", "sync.switch=0.4", "sync.period=3"},
                               {"sync.name=warm-local", "sync.period=6"},
                               {"sync.name=warm-local", "sync.period=5", "sync.growth=linear"},
                               {"sync.name=adacomm", "sync.period=5", "sync.interval_steps=6"},
                               {"sync.name=adacomm", "sync.period=4", "sync.interval_epochs=0.5"},
                               {"sync.name=block-momentum", "sync.period=3"},
                               {"sync.name=block-momentum", "sync.period=4", "sync.momentum=local",
                                "sync.block_momentum=0.5", "sync.block_rate=0.8"}};
  const Settings households{"sync.name=households", "sync.world_period=5"};
  if (workers == 3) family.push_back(together(households, {"sync.household_sizes=2,1"}));
  if (workers % 2 == 0) {
    family.push_back(households);
    family.push_back(together(households, {"sync.household_period=2", "sync.momentum=average"}));
  }
  if (workers % 4 == 0) {
    family.push_back(together(
        households, {"sync.households=4", "sync.neighbourhoods=2", "sync.neighbourhood_period=2"}));
  }
  if (workers == 8) {
    family.push_back(together(households, {"sync.household_sizes=1,2,3,2", "sync.neighbourhoods=2",
                                           "sync.neighbourhood_period=3"}));
  }
  return family;
}

inline std::string name_of(const Settings& settings) {
  std::string name;
  for (const auto& setting : settings) name += setting + " ";
  return name;
}

}  // namespace lockstep
