// `lockstep data get NAME`: gets a data set that others publish.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep {

void add_data_get(CLI::App& data);

}  // namespace lockstep
