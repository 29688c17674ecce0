// `lockstep data list`: the data sets there are, and whether they are here.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep {

void add_data_list(CLI::App& data);

}  // namespace lockstep
