// What a run tells: metrics.jsonl, TensorBoard events and log.txt in its directory, and lines and a
// progress bar in the terminal. Only the first rank has one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lockstep/base/json_lines.h"
#include "lockstep/base/progress.h"
#include "lockstep/sync/strategy.h"
#include "lockstep/train/evaluation.h"
#include "lockstep/train/run_directory.h"
#include "lockstep/train/run_log.h"
#include "lockstep/train/tensorboard.h"

namespace lockstep {

// Where training stands after a step.
struct Standing {
  std::int64_t step = 0;  // steps done
  double epoch = 0;
  double samples = 0;  // seen by all workers together
  double bytes = 0;    // sent by the worker that sends most
  double seconds = 0;  // of the wall or simulated, over all sittings
  double lr = 0;
};

class Reporter {
 public:
  // `total` steps, of which `done` were done before. `quiet`: nothing on the terminal.
  Reporter(const RunPaths& paths, std::int64_t total, std::int64_t done, bool quiet);

  // `staleness` of all pushes so far, where there are any.
  void trained(const Standing& standing, const Tallies& tallies,
               const StalenessRecord* staleness = nullptr);
  // `on`: "validation" or "test".
  void validated(const Standing& standing, const Tallies& tallies, const std::string& on);
  void alive(const Standing& standing);  // for the progress bar; may come every step
  void say(const std::string& line);     // terminal and log
  void note(const std::string& text);    // log only

 private:
  void write(const Standing& standing, const Tallies& tallies, const std::string& prefix,
             const StalenessRecord* staleness = nullptr);

  JsonLines metrics_;
  EventWriter events_;
  RunLog log_;
  Progress progress_;
  bool quiet_;
  Standing first_;  // of this sitting: rates count from here
  Tallies last_;
  double seconds_ = 0;  // of the last report
};

}  // namespace lockstep
