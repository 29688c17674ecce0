#include "apps/run_configuration.h"

#include <fmt/format.h>

#include "apps/mpi_process.h"
#include "apps/world_choice.h"
#include "lockstep/train/parallel.h"
#include "lockstep/train/presets.h"
#include "lockstep/train/run_directory.h"

namespace lockstep {

void add_run_arguments(CLI::App& command, RunArguments& arguments) {
  command.add_option("file", arguments.file, "Configuration (TOML); docs/configuration.md");
  command.add_option("--preset", arguments.preset, "Start from a configuration that comes along")
      ->take_last();
  command
      .add_option("--set", arguments.settings,
                  "A value of the configuration, as section.key=value; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--workers", arguments.workers, "Short for --set cluster.workers=")
      ->take_last();
  command.add_option("--world", arguments.world, "threads, mpi or sim: --set cluster.world=")
      ->take_last();
  command.add_option("--cluster-file", arguments.cluster_file,
                     "The cluster that sim simulates: --set cluster.cluster_file=");
  command.add_option("--timeout", arguments.timeout,
                     "Seconds a rank may wait for another: --set cluster.timeout=");
}

Config run_configuration(const RunArguments& arguments, const std::string& resumed) {
  Config config;
  std::int64_t workers_before = 0;
  if (!resumed.empty()) {
    if (!arguments.file.empty() || !arguments.preset.empty()) {
      throw ConfigError("--resume takes the configuration of the run; change it with --set");
    }
    config.read_file(find_run(resumed).config());
    // Another world may go on with it; but what was simulated stays so unless the user says.
    if (config.at("cluster").own().text("world") != "sim") config.set({"cluster.world="});
    workers_before = replicas_of(config);
  } else if (!arguments.preset.empty() || arguments.file.empty()) {
    const Preset& start = preset(arguments.preset.empty() ? "default" : arguments.preset);
    config.read_text(start.toml, fmt::format("preset {}", start.name));
  }
  if (!arguments.file.empty()) config.read_file(arguments.file);

  std::vector<std::string> settings = arguments.settings;
  const auto short_for = [&](const char* key, const std::string& value) {
    if (!value.empty()) settings.push_back(fmt::format("cluster.{}={}", key, value));
  };
  short_for("world", arguments.world);
  short_for("cluster_file", arguments.cluster_file);
  short_for("workers", arguments.workers);
  short_for("timeout", arguments.timeout);
  if (workers_before > 0) {
    // Another number of workers shares the same global batch; what one of them has is found anew.
    Config other = config;
    other.set(settings);
    if (replicas_of(other) != workers_before) {
      config.set({"train.local_batch=0", "cluster.merge=0"});
    }
  }
  config.set(settings);

  const Options& cluster = config.at("cluster").own();
  WorldChoice choice{cluster.text("world"), cluster.text("cluster_file"), cluster.real("timeout")};
  settle_world(choice);
  config.at("cluster").set_text("world", choice.name);
  return config;
}

int planned_ranks(Config config) {
  const Section& model = config.at("model");
  const auto kind = Registry<ModelKind>::instance().make(model.component(), model.options());
  const Section& sync = config.at("sync");
  const auto strategy = Registry<SyncStrategy>::instance().make(sync.component(), sync.options());
  return place_workers(config, *kind, strategy->traits(), 0).ranks();
}

}  // namespace lockstep
