// `lockstep bench compress`.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep {

void add_bench_compress(CLI::App& bench);

}  // namespace lockstep
