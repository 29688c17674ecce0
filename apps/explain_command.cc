// `lockstep explain`: shows step by step what an algorithm does to a small input.
#include "apps/command.h"
#include "apps/explain_all_reduce.h"
#include "apps/explain_compress.h"
#include "apps/explain_pipeline.h"

namespace lockstep {

void add_explain_command(CLI::App& app) {
  auto* command = app.add_subcommand("explain", "Show step by step what an algorithm does");
  command->require_subcommand(1);
  add_explain_all_reduce(*command);
  add_explain_compress(*command);
  add_explain_pipeline(*command);
}

}  // namespace lockstep
