#include "apps/component_options.h"

#include "lockstep/base/text.h"

namespace lockstep {

void add_set_option(CLI::App& command, std::vector<std::string>& settings) {
  command
      .add_option("--set", settings, "An option of the algorithm, as name=value; may be repeated")
      ->allow_extra_args(false);
}

Options component_options(const Catalogue& catalogue, const std::string& name,
                          const std::vector<std::string>& settings) {
  Options options = catalogue.options(name);
  for (const auto& setting : settings) {
    const auto at = setting.find('=');
    if (at == std::string::npos) {
      throw ConfigError("--set {}: write it as name=value", setting);
    }
    options.set(trim(setting.substr(0, at)), trim(setting.substr(at + 1)));
  }
  return options;
}

}  // namespace lockstep
