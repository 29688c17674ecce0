// The configuration of a run from the command line: preset, file, `--set`, and the flags that are
// short for a `--set`.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "lockstep/train/config.h"
#include "lockstep/train/job.h"

namespace lockstep {

struct RunArguments {
  std::string file;
  std::string preset;
  std::vector<std::string> settings;
  std::string world, cluster_file, workers, timeout;  // empty: not given
};

void add_run_arguments(CLI::App& command, RunArguments& arguments);

// `resumed`: a run's directory, whose configuration is the ground then; or "".
Config run_configuration(const RunArguments& arguments, const std::string& resumed);

int planned_ranks(Config config);  // how many mpirun should start

}  // namespace lockstep
