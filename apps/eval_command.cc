// `lockstep eval`: how good is what a run has learnt?
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "apps/command.h"
#include "apps/run_configuration.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/train/evaluate_run.h"
#include "lockstep/train/train.h"

namespace lockstep {
namespace {

struct Arguments {
  std::string directory;
  std::vector<std::string> settings;
  bool json = false;
};

Json to_json(const Tallies& tallies) {
  return {{"samples", tallies.samples},
          {"loss", tallies.mean_loss()},
          {"accuracy", tallies.accuracy()}};
}

void evaluate(const Arguments& arguments) {
  RunArguments run;
  run.settings = arguments.settings;
  run.world = "threads";
  run.settings.emplace_back("cluster.cluster_file=");
  const Config config = run_configuration(run, arguments.directory);
  const auto world = make_world(config);
  const RunEvaluation found = evaluate_run(*world, config, arguments.directory);
  for (const auto& remark : found.remarks) std::cerr << "lockstep: " << remark << "\n";
  if (arguments.json) {
    JsonLines(std::cout).write({{"run", arguments.directory},
                                {"step", found.step},
                                {"epoch", found.epoch},
                                {"validation", to_json(found.validation)},
                                {"test", to_json(found.test)}});
    return;
  }
  std::cout << fmt::format("{} after step {} (epoch {:.2f})\n", arguments.directory, found.step,
                           found.epoch);
  const auto line = [](const char* on, const Tallies& tallies) {
    if (tallies.samples == 0) return;
    std::cout << fmt::format("{:<11} accuracy {:.2f} %, loss {:.4f}, {} samples\n", on,
                             100 * tallies.accuracy(), tallies.mean_loss(), tallies.samples);
  };
  line("validation", found.validation);
  line("test", found.test);
}

}  // namespace

void add_eval_command(CLI::App& app) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("eval", "Evaluate the newest checkpoint of a run");
  command->add_option("run", arguments->directory, "Directory of the run")->required();
  command
      ->add_option("--set", arguments->settings,
                   "A value of its configuration, as section.key=value; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--json", arguments->json, "One JSON object instead of lines");
  command->callback([arguments] { evaluate(*arguments); });
}

}  // namespace lockstep
