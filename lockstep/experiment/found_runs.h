// Which runs are meant by the names on a command line: runs, sweeps, or directories that have runs
// in them.
#pragma once

#include <string>
#include <vector>

#include "lockstep/experiment/sweep_file.h"

namespace lockstep {

struct NamedRun {
  std::string path;
  std::string cell;                 // of a sweep: "workers=4, shards=all"; else ""
  std::vector<std::string> labels;  // of its cell
};

struct RunsFound {
  std::vector<NamedRun> runs;
  // Of the sweep, where there is just one of them and nothing else.
  std::string title, text;
  std::vector<std::string> axes, baseline;
  Metric metric = Metric::kValidation;
  double target = 0;
  std::vector<PublishedResult> published;
};

RunsFound find_runs(const std::vector<std::string>& paths);

}  // namespace lockstep
