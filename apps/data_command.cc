// `lockstep data`: the data sets, how to get them and what is in them, and who gets what of it.
#include "apps/command.h"
#include "apps/data_get.h"
#include "apps/data_info.h"
#include "apps/data_list.h"
#include "apps/show_assignment.h"

namespace lockstep {

void add_data_command(CLI::App& app) {
  auto* command = app.add_subcommand("data", "List, get and look into data sets");
  command->require_subcommand(1);
  add_data_list(*command);
  add_data_get(*command);
  add_data_info(*command);
  add_show_assignment(*command);
}

}  // namespace lockstep
