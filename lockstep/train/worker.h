// One rank's training: the loop that takes batches, learns, and from time to time validates, saves
// and reports.
#pragma once

#include <string>

#include "lockstep/optim/early_stopping.h"
#include "lockstep/train/checkpoint.h"
#include "lockstep/train/learner.h"
#include "lockstep/train/reporter.h"

namespace lockstep {

struct TrainResult {
  Standing standing;
  Tallies validation, test;  // at the end
  double best_accuracy = 0;  // of all validations
  double waited = 0;         // seconds for batches
  bool interrupted = false;
  bool stopped_early = false;
  std::size_t parameters = 0;
  std::string directory;
};

class Worker {
 public:
  // Collective. `paths` count on the first rank only, which writes the files.
  Worker(Transport& transport, const Job& job, RunPaths paths);

  // Collective. Goes on from the newest checkpoint that is whole; returns what the user should know
  // about that.
  std::vector<std::string> resume();
  void report_to(Reporter* reporter) { reporter_ = reporter; }  // the first rank's
  std::int64_t step() const { return standing_.step; }
  std::vector<std::string> remarks() const;

  // Collective. The same on all ranks but for `waited`.
  TrainResult run();

 private:
  void learn(const Batch& batch);
  void report_training();
  Tallies validate();
  bool due(const char* option) const;  // is it time, by an option in epochs?
  bool agreed_to_stop();
  void take_snapshots();
  void save_checkpoint();
  void save_model(const std::string& path);
  void finish(TrainResult& result);
  void state(StateVisitor& visitor);

  Transport& transport_;
  const Job& job_;
  RunPaths paths_;
  Reporter* reporter_ = nullptr;
  Learner learner_;
  EarlyStopping early_stopping_;
  Standing standing_;
  Tallies tallies_;  // of this rank since the last report
  double began_;
  double seconds_before_ = 0;  // of earlier sittings
  double bytes_before_ = 0;
};

}  // namespace lockstep
