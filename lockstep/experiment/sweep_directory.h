// The directory of a sweep:
//
//   sweep.json               title, axes, cells, published results: what a report needs
//   cells/CELL/seed-1.toml   the configuration of a run, whole
//   cells/CELL/seed-1/       the run (see RunPaths)
//   cells/CELL/seed-1.log    what its process said
//   lock                     held by the sweep that is running
//
// What is there decides what is still to do, so a sweep that was killed goes on by being started
// again.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/file_lock.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/experiment/grid.h"
#include "lockstep/train/run_directory.h"

namespace lockstep {

enum class RunState {
  kMissing,  // not begun, or not so far that there is a checkpoint
  kPartial,  // can be resumed
  kDone,
};

struct SweptRun {
  std::size_t cell = 0;  // of the cells
  std::int64_t seed = 0;
  std::string config;  // its configuration's file
  std::string log;
  RunPaths paths;
  RunState state = RunState::kMissing;
};

class SweepDirectory {
 public:
  static std::string sweep_file(const std::string& root) { return root + "/sweep.json"; }
  static bool is_sweep(const std::string& root);

  // Makes it, or opens what an earlier start has left. `scale` is only noted. A ConfigError where
  // another process is at it, or where runs were made with other settings than the sweep has now,
  // unless they may be thrown away (`again`).
  SweepDirectory(const std::string& root, const SweepFile& sweep, std::vector<Cell> cells,
                 const std::string& scale, bool again);
  const std::vector<Cell>& cells() const { return cells_; }
  std::vector<SweptRun>& runs() { return runs_; }  // all seeds of the first cell, then the next

 private:
  std::vector<Cell> cells_;
  std::vector<SweptRun> runs_;
  FileLock lock_;
};

// The runs of a sweep and their states, without touching anything.
std::vector<SweptRun> swept_runs(const std::string& root, const SweepFile& sweep,
                                 const std::vector<Cell>& cells);
RunState state_of(const RunPaths& paths);

Json to_json(const SweepFile& sweep, const std::vector<Cell>& cells, const std::string& scale);

}  // namespace lockstep
