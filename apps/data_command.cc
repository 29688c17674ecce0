// `lockstep data`: the data sets, how to get them and what is in them.
#include "apps/command.h"
#include "apps/data_get.h"
#include "apps/data_info.h"
#include "apps/data_list.h"

namespace lockstep {

void add_data_command(CLI::App& app) {
  auto* command = app.add_subcommand("data", "List, get and look into data sets");
  command->require_subcommand(1);
  add_data_list(*command);
  add_data_get(*command);
  add_data_info(*command);
}

}  // namespace lockstep
