// `lockstep bench allreduce`.
#pragma once

#include <CLI/CLI.hpp>

namespace lockstep {

void add_bench_all_reduce(CLI::App& bench);

}  // namespace lockstep
