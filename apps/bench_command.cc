// `lockstep bench`: measures the pieces on this machine, or on a simulated one.
#include "apps/bench_all_reduce.h"
#include "apps/bench_compress.h"
#include "apps/command.h"

namespace lockstep {

void add_bench_command(CLI::App& app) {
  auto* command = app.add_subcommand("bench", "Measure how fast the pieces are here");
  command->require_subcommand(1);
  add_bench_all_reduce(*command);
  add_bench_compress(*command);
}

}  // namespace lockstep
