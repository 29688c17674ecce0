// A value of a TOML file as the value of an option. Only for files that include toml++ anyway.
#pragma once

#include <toml++/toml.h>

#include <string>

#include "lockstep/base/options.h"

namespace lockstep {

// A ConfigError where it is nothing that an option can be; `where` names it.
OptionValue toml_value(const toml::node& node, const std::string& where);

}  // namespace lockstep
