// `--set name=value` for the component that a command runs.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "lockstep/base/registry.h"

namespace lockstep {

void add_set_option(CLI::App& command, std::vector<std::string>& settings);

// The options of `name` with the settings applied; ConfigError if one is unknown or out of bounds.
Options component_options(const Catalogue& catalogue, const std::string& name,
                          const std::vector<std::string>& settings);

}  // namespace lockstep
