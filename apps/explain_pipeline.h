// `lockstep explain pipeline`.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep {

void add_explain_pipeline(CLI::App& explain);

}  // namespace lockstep
