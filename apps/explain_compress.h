// `lockstep explain compress`.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep {

void add_explain_compress(CLI::App& explain);

}  // namespace lockstep
