// `lockstep train`: a configuration, from presets, a file and the command line, becomes a run.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <memory>

#include "apps/command.h"
#include "apps/mpi_process.h"
#include "apps/run_configuration.h"
#include "lockstep/base/text.h"
#include "lockstep/train/describe.h"
#include "lockstep/train/learner_count.h"
#include "lockstep/train/ledger_table.h"
#include "lockstep/train/presets.h"
#include "lockstep/train/train.h"

namespace lockstep {
namespace {

struct Arguments {
  RunArguments run;
  std::string out;
  std::string resume;
  std::string replay;
  bool timeline = false;
  bool dry_run = false;
  bool quiet = false;
};

void print_closing(const TrainResult& result, const std::string& directory) {
  const Standing& standing = result.standing;
  const double pace = standing.seconds > 0 ? standing.samples / standing.seconds : 0;
  if (result.interrupted) {
    std::cout << fmt::format("Interrupted after step {}; go on with: lockstep train --resume {}\n",
                             standing.step, directory);
    return;
  }
  std::cout << fmt::format("{} after {} steps in {}, {:.0f} samples/s.\n",
                           result.stopped_early ? "Stopped early" : "Done", standing.step,
                           format_seconds(standing.seconds), pace);
  const auto accuracy = [](const char* on, const Tallies& tallies) {
    if (tallies.samples == 0) return;
    std::cout << fmt::format("{:<11} accuracy {:.2f} %, loss {:.4f}\n", on,
                             100 * tallies.accuracy(), tallies.mean_loss());
  };
  accuracy("validation", result.validation);
  accuracy("test", result.test);
  if (const std::string line = staleness_line(result.staleness); !line.empty()) {
    std::cout << line << "\n";
  }
  for (const std::string& line : {result.compression, result.overlap, result.pipeline}) {
    if (!line.empty()) std::cout << line << "\n";
  }
  std::cout << "\n" << ledger_table(result.ledgers, result.placement) << "\n";
  std::cout << fmt::format(
      "Results are in {}: model.pt, weights.npy, metrics.jsonl, summary.json\n", directory);
}

bool needs_mpirun(const Config& config) {
  return config.at("cluster").own().text("world") == "mpi" && !under_mpi();
}

// The configuration of the run to replay, in this process, whatever world it ran on.
Config replay_configuration(const Arguments& arguments) {
  if (!arguments.run.file.empty() || !arguments.run.preset.empty()) {
    throw ConfigError(
        "--replay takes the configuration of the run in {}; leave file and preset out",
        arguments.replay);
  }
  Config config;
  config.read_file(find_run(arguments.replay).config());
  config.set({"cluster.world=threads", "cluster.cluster_file="});
  config.set(arguments.run.settings);
  return config;
}

void train_command(const Arguments& arguments) {
  if (!arguments.resume.empty() && !arguments.out.empty()) {
    throw ConfigError("--out names a new run and --resume an old one; leave one of them out");
  }
  if (!arguments.resume.empty() && !arguments.replay.empty()) {
    throw ConfigError("--replay makes a new run of an old one, and --resume goes on with it");
  }
  TrainRequest request;
  request.config = arguments.replay.empty() ? run_configuration(arguments.run, arguments.resume)
                                            : replay_configuration(arguments);
  if (arguments.timeline) request.config.set({"train.timeline=true"});
  request.replay = arguments.replay;
  request.resume = !arguments.resume.empty();
  request.out = request.resume ? arguments.resume : arguments.out;
  request.quiet = arguments.quiet;
  if (needs_mpirun(request.config) && !arguments.dry_run) {
    const int code = run_again_under_mpirun(planned_ranks(request.config));
    if (code != 0) std::exit(code);
    return;
  }
  if (needs_mpirun(request.config)) request.config.at("cluster").set_text("world", "threads");
  const auto world = make_world(request.config);
  if (arguments.dry_run) {
    const auto learners = settle_learners(*world, request.config, request.ingredients);
    const Job job(request.config, request.ingredients, ranks_given(*world, request.config));
    if (world->leads()) std::cout << job.config().to_toml() << "\n" << describe(job);
    for (const auto& line : learners) std::cout << fmt::format("{:<12} {}\n", "learners", line);
    return;
  }
  const TrainResult result = train(*world, request);
  if (world->leads()) print_closing(result, result.directory);
  if (result.interrupted && !under_mpi())
    std::exit(kInterruptedCode);  // mpirun would make much of it
}

}  // namespace

void add_train_command(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("train", "Train a model on many workers");
  add_run_arguments(*command, arguments->run);
  command->add_option("--out", arguments->out,
                      "Directory of the run; default: the next free one under runs/");
  command->add_option("--resume", arguments->resume,
                      "Go on with the run in this directory, from its newest checkpoint");
  command->add_option("--replay", arguments->replay,
                      "Repeat the asynchronous run in this directory bit for bit, in one process");
  command->add_flag("--timeline", arguments->timeline,
                    "Write what every worker did when to timeline.json, for Perfetto");
  command->add_flag("--dry-run", arguments->dry_run,
                    "Print the whole configuration and what would be done, and stop");
  command->add_flag("--quiet", arguments->quiet, "No progress, only the closing lines");
  std::string footer = "Presets:\n";
  for (const auto& preset : presets()) {
    footer += fmt::format("  {:<18} {}\n", preset.name, preset.sentence());
  }
  command->footer(footer + "Without file and preset: the preset \"default\".");
  command->callback([arguments] { train_command(*arguments); });
}

}  // namespace lockstep
