// One worker's copy of everything that learns: the replica, its optimizer, and the strategy that
// keeps it together with the others.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lockstep/train/evaluation.h"
#include "lockstep/train/job.h"
#include "lockstep/train/ledgers.h"
#include "lockstep/train/link.h"
#include "lockstep/train/seat.h"
#include "lockstep/train/serving.h"
#include "lockstep/train/timed_pass.h"

namespace lockstep {

class Learner {
 public:
  // Collective: everybody starts from the parameters and buffers of the first rank, or of the first
  // that holds the same stage.
  Learner(Transport& whole, const Job& job);

  // What to do after `done` steps, when all meet at `until`.
  Turn next(std::int64_t done, std::int64_t until);
  // One step of training, this worker's `own`-th. Throws a TrainingError if the loss is not finite.
  // `meeting`: all workers meet after it.
  PassResult learn(std::int64_t step, std::int64_t own, Batch& batch, bool meeting);
  // After the last step.
  void finish(std::int64_t step);
  void close() { strategy_->close(); }

  // Collective, where consistent(). With the model that all agree on in the replica for the time of
  // the action; workers keep their own.
  void with_model(const std::function<void()>& action);
  Tallies validate(std::span<const SampleId> samples);

  bool consistent() const { return consistent_; }
  Replica& replica() { return *replica_; }
  Seat& seat() { return seat_; }
  const Seat& seat() const { return seat_; }
  Group& group() { return group_; }  // the workers; of a model that is cut, those with this stage
  const StalenessRecord* staleness() const { return strategy_->staleness(); }
  // What this rank did when, if the configuration asks for it; else null.
  RankTimeline* timeline() { return timeline_.get(); }
  const OverlappedAveraging* overlap() const { return overlap_; }            // null: there is none
  std::string overlap_line(const std::vector<WorkerLedger>& ledgers) const;  // for the user
  void loaded(std::int64_t step, double began, double ended);                // the batch of a step
  std::uint64_t bytes_sent() const;
  // Collective. Of all sittings; what state() saves is what it was here.
  const WorkerLedger& ledger();
  Link measure_link() { return lockstep::measure_link(group_, *all_reduce_); }  // collective
  void begin_ledger() { ledger_ = {}; }  // a worker that was not there before
  // Before the state is restored: the model was cut elsewhere, and buckets are to be found anew.
  void forget_buckets() { keeps_buckets_ = false; }
  std::vector<std::string> remarks() const;  // a line each, for the user

  // Collective. Training begins, or goes on after the state was restored.
  void start();
  // Collective. Then state() may be saved, and the learner dropped; or start_server() goes on.
  void rest();
  void start_server();  // if there is one
  // Arrivals since the last call at this worker's inbox or shard.
  std::vector<int> take_arrivals();
  void state(StateVisitor& visitor);
  // As much of it as evaluating needs: nothing of the optimizer and the server.
  void model_state(StateVisitor& visitor);

 private:
  std::unique_ptr<Replica> make_replica();
  std::unique_ptr<Averaging> make_averaging();
  void open_overlap();
  bool updates_together();  // may workers share one copy of the parameters? Collective
  void share_statistics();
  void count_pass(double began, double ended);
  void take_step(SyncStep& sync);
  void check_loss(double loss, std::int64_t step, const Rates& rates) const;
  float weight_of(std::int64_t step, std::size_t samples) const;
  double slowdown_of(std::int64_t own) const;

  Seat seat_;
  Transport& transport_;  // to those with the same stage
  const Job& job_;
  std::unique_ptr<RankTimeline> timeline_;
  Group group_;
  std::unique_ptr<AllReduce> all_reduce_;
  std::unique_ptr<Group> statistics_group_;
  std::unique_ptr<Replica> replica_;
  TimedPass pass_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<SyncStrategy> strategy_;
  Arrivals inbox_;
  std::unique_ptr<Serving> serving_;
  std::unique_ptr<Averaging> averaging_;
  OverlappedAveraging* overlap_ = nullptr;  // is averaging_, where [overlap] hides anything
  std::unique_ptr<Communicator> communicator_;
  bool keeps_buckets_ = true;  // of a checkpoint
  bool consistent_ = false;    // is there a model that all workers know?
  WorkerLedger ledger_;
  PassTimes counted_;     // what the replica had counted before the pass
  double exchanged_ = 0;  // what communicator_ had been held up after the last step
  double deciding_ = 0;   // seconds since then within next()
  Traffic settled_;       // what communicator_ had counted when it was added to ledger_
};

}  // namespace lockstep
