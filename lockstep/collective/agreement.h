// Before the first step the ranks compare what they think the run is. Ranks that differ (another
// configuration file on one host, another model, another order of operations) would hang or, worse,
// average things that do not belong together.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/collective/group.h"

namespace lockstep {

// What a rank thinks the run is, in an order that is the same everywhere.
class RunFacts {
 public:
  void add(std::string_view key, std::string_view value);
  void add(std::string_view key, std::size_t value) { add(key, std::to_string(value)); }

  std::string text() const;
  static std::vector<std::pair<std::string, std::string>> parse(std::string_view text);

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
};

// Collective. Hashes travel first; only if they differ do the texts. Then a ConfigError on every
// member names the first fact that differs, its values and the ranks that hold them.
void require_agreement(Group& group, const RunFacts& facts);

}  // namespace lockstep
