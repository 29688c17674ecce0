// `lockstep data info NAME`: loads a data set and says what is in it.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep {

void add_data_info(CLI::App& data);

}  // namespace lockstep
