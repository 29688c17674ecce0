#include "apps/world_choice.h"

#include "apps/mpi_process.h"

namespace lockstep {

void add_world_options(CLI::App& command, WorldChoice& choice) {
  command.add_option("--world", choice.name,
                     "threads, mpi or sim; default: mpi when started by mpirun, else threads");
  command.add_option("--cluster-file", choice.cluster_file,
                     "The cluster that sim simulates; default: a star of 1 Gbit/s links");
  command
      .add_option("--timeout", choice.timeout,
                  "Seconds a rank may wait for another before the run ends with a report")
      ->capture_default_str();
}

void settle_world(WorldChoice& choice) {
  if (choice.name.empty()) choice.name = under_mpi() ? "mpi" : "threads";
  const auto names = Registry<World>::instance().names();
  const bool known = std::find(names.begin(), names.end(), choice.name) != names.end();
  if (!known && (choice.name == "mpi" || choice.name == "sim")) {
    throw ConfigError("this build has no {} world; install {} (scripts/setup does) and build again",
                      choice.name, choice.name == "mpi" ? "libopenmpi-dev" : "libsimgrid-dev");
  }
  Registry<World>::instance().at(choice.name);
  if (under_mpi() && choice.name != "mpi") {
    throw ConfigError(
        "started by mpirun or srun, but --world {} runs in one process; leave one of them out",
        choice.name);
  }
  if (!choice.cluster_file.empty() && choice.name != "sim") {
    throw ConfigError("--cluster-file describes a simulated cluster; it needs --world sim, not {}",
                      choice.name);
  }
}

std::unique_ptr<World> make_world(const WorldChoice& choice) {
  const auto& registry = Registry<World>::instance();
  Options options = registry.options(choice.name);
  options.set_value("timeout", choice.timeout);
  if (!choice.cluster_file.empty()) options.set_value("cluster_file", choice.cluster_file);
  return registry.make(choice.name, options);
}

}  // namespace lockstep
