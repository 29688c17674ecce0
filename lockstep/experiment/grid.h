// The cells of a sweep: every combination of its axes' points that is not excluded, each with all
// of its settings.
#pragma once

#include "lockstep/base/json_lines.h"
#include "lockstep/experiment/sweep_file.h"
#include "lockstep/train/config.h"

namespace lockstep {

struct Cell {
  std::vector<std::string> labels;  // one an axis
  std::vector<Setting> settings;    // of the base, the axes and the formulas, in this order
  std::string folder;               // a name for the file system, another one for every cell
};

// The first axis changes slowest. A ConfigError where a setting, a formula or an exclusion is
// wrong, or where nothing is left.
std::vector<Cell> cells_of(const SweepFile& sweep);

// "workers=4, shards=all"
std::string describe(const SweepFile& sweep, const Cell& cell);

Json to_json(const std::vector<Setting>& settings);  // {"train.epochs": "182"}

// The configuration of one run.
Config config_of(const SweepFile& sweep, const Cell& cell, std::int64_t seed);

}  // namespace lockstep
