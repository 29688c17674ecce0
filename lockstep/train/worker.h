// One rank's training: the loop that takes batches, learns, and from time to time validates, saves
// and reports.
#pragma once

#include <string>

#include "lockstep/optim/early_stopping.h"
#include "lockstep/train/everyone.h"
#include "lockstep/train/learner.h"
#include "lockstep/train/reporter.h"

namespace lockstep {

struct TrainResult {
  Standing standing;
  Tallies validation, test;  // at the end
  double best_accuracy = 0;  // of all validations
  double waited = 0;         // seconds for batches
  Placement placement;
  std::vector<WorkerLedger> ledgers;  // one a worker rank
  std::string compression;            // what it has saved or cost, in a line; empty: none
  std::string overlap;                // what it has hidden, in a line; empty: none
  std::string pipeline;               // how long stages idled, in a line; empty: there are none
  StalenessRecord staleness;          // of all workers' pushes, where there were any
  bool interrupted = false;
  bool stopped_early = false;
  std::size_t parameters = 0;
  std::string directory;
};

class Worker {
 public:
  // Collective. `paths` count on the first rank only, which writes the files.
  Worker(Transport& transport, const Job& job, RunPaths paths);

  // Collective, over ranks that only serve too. Goes on from the newest checkpoint that is whole;
  // returns what the user should know about that.
  std::vector<std::string> resume();
  void report_to(Reporter* reporter) { reporter_ = reporter; }  // the first rank's
  std::int64_t step() const { return standing_.step; }
  // Has it trained all there is to train? Of a run that was resumed.
  bool ended() const {
    return standing_.step >= job_.plan().steps() || early_stopping_.should_stop();
  }
  std::vector<std::string> remarks() const;
  Config settled() const;  // the configuration, with the cuts that were found

  // Collective. The same on all ranks but for `waited`.
  TrainResult run();

 private:
  // Where all workers meet next, if the strategy does not bring them together before.
  std::int64_t next_meeting() const;
  void learn(std::int64_t step, Batch& batch);
  void meet(TrainResult& result);
  void report_training();
  Tallies validate();
  // Has it become time since `last`, by an option in epochs?
  bool due(const char* option, std::int64_t last) const;
  bool agreed_to_stop();
  void take_snapshots();
  void save_checkpoint();
  void start_clock();
  void forget_sent();
  void rest(RestFor wish);
  void save_model(const std::string& path);
  void finish(TrainResult& result);
  void take_stock(TrainResult& result);
  void write_timeline();
  void write_results();
  void state(StateVisitor& visitor);

  Transport& transport_;
  const Job& job_;
  RunPaths paths_;
  Reporter* reporter_ = nullptr;
  Group everyone_;
  Learner learner_;
  EarlyStopping early_stopping_;
  Standing standing_;
  Tallies tallies_;             // of this rank since the last report
  std::int64_t own_steps_ = 0;  // that this worker has taken
  // The steps of the latest report, snapshot, validation and checkpoint.
  std::int64_t reported_ = 0, looked_ = 0, validated_ = 0, saved_ = 0;
  bool at_meeting_ = false;    // was the latest step the last before a meeting?
  bool closed_ = false;        // has this worker asked for an early meeting?
  double began_;               // counting the seconds that are not in the next one
  double seconds_before_ = 0;  // up to the last checkpoint, or of earlier sittings
  double bytes_before_ = 0;
};

}  // namespace lockstep
