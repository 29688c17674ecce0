// The directory of a run: everything it leaves behind, under names that never change.
//
//   config.toml     the configuration, with all defaults; makes the directory a run
//   metrics.jsonl   one line a report: step, epoch, loss, …
//   checkpoint/     step-00000123.ckpt …
//   log.txt         what happened when
//   arrivals.jsonl  of asynchronous runs: who came when, for --replay
//   summary.json, model.pt, weights.npy       once the run is over
//   events.out.tfevents.…                     for TensorBoard
//   lock            held by the run that is writing
#pragma once

#include <cstdint>
#include <string>

#include "lockstep/base/file_lock.h"

namespace lockstep {

struct RunPaths {
  std::string root;

  std::string config() const { return root + "/config.toml"; }
  std::string metrics() const { return root + "/metrics.jsonl"; }
  std::string checkpoints() const { return root + "/checkpoint"; }
  std::string arrivals() const { return root + "/arrivals.jsonl"; }
  std::string model() const { return root + "/model.pt"; }
  std::string weights() const { return root + "/weights.npy"; }
  std::string summary() const { return root + "/summary.json"; }
  std::string timeline() const { return root + "/timeline.json"; }
  std::string log() const { return root + "/log.txt"; }
  std::string lock() const { return root + "/lock"; }
};

bool is_run(const std::string& root);
// The paths of a run that exists, to read from it. A ConfigError if there is none.
RunPaths find_run(const std::string& root);

// A run directory that nobody else writes to while this object lives. The process that writes
// (rank 0) holds it.
class RunDirectory {
 public:
  // A new run. ConfigError if `root` holds anything already; nothing there is touched.
  static RunDirectory create(const std::string& root, const std::string& config);
  // A new run under `parent`: <stem>-1, or the next number that is free.
  static RunDirectory create_numbered(const std::string& parent, const std::string& stem,
                                      const std::string& config);
  // An existing run, to go on with.
  static RunDirectory resume(const std::string& root);

  const RunPaths& paths() const { return paths_; }

 private:
  explicit RunDirectory(const std::string& root);  // locks it

  RunPaths paths_;
  FileLock lock_;
};

// Before a run goes on from the checkpoint of `step`: drops the lines of metrics.jsonl beyond it,
// which it will write again; with `ended`, that was the last step, and what it validates at the end
// goes too. Nothing if there is no such file.
void cut_metrics(const std::string& path, std::int64_t step, bool ended = false);

}  // namespace lockstep
