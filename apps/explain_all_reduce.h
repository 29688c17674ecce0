// `lockstep explain allreduce`.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep {

void add_explain_all_reduce(CLI::App& explain);

}  // namespace lockstep
