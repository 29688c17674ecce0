// `lockstep data show-assignment`.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep {

void add_show_assignment(CLI::App& data);

}  // namespace lockstep
