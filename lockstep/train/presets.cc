#include "lockstep/train/presets.h"

#include "lockstep/base/error.h"
#include "lockstep/base/text.h"

namespace lockstep {

std::string Preset::sentence() const {
  return trim(std::string_view(toml).substr(0, toml.find('\n')).substr(1));
}

const Preset& preset(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& candidate : presets()) {
    if (candidate.name == name) return candidate;
    names.push_back(candidate.name);
  }
  throw ConfigError("{}", unknown_name("preset", name, names));
}

}  // namespace lockstep
