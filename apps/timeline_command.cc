// `lockstep timeline`: where did a run's time go?
#include <iostream>
#include <memory>

#include "apps/command.h"
#include "lockstep/train/timeline_summary.h"

namespace lockstep {

void add_timeline_command(CLI::App& app) {
  const auto directory = std::make_shared<std::string>();
  auto* command = app.add_subcommand("timeline", "Tell where the time of a run's steps went");
  command->add_option("run", *directory, "Directory of the run")->required();
  command->callback([directory] { std::cout << timeline_summary(find_run(*directory)); });
}

}  // namespace lockstep
