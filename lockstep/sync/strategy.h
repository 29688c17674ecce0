// When workers agree. A strategy is asked before and after every backward pass: it exchanges what
// it exchanges and lets the optimizer take its step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/base/registry.h"
#include "lockstep/base/state.h"
#include "lockstep/compress/compression_plan.h"
#include "lockstep/model/replica.h"
#include "lockstep/optim/optimizer.h"
#include "lockstep/server/server_client.h"
#include "lockstep/sync/communicator.h"

namespace lockstep {

// What a strategy finds before the first step.
struct SyncSetup {
  Replica& replica;
  Optimizer& optimizer;
  Communicator& communicator;  // all workers
  ServerClient* server;        // where [aggregate] via = "server", else null
  Arrivals& arrivals;          // of messages that this worker takes from anybody
  std::uint64_t seed = 1;
  std::int64_t steps = 0;                        // of the whole training
  double epochs = 0;                             // the same in epochs
  const CompressionPlan* compression = nullptr;  // [compress], if it compresses
  bool shares_update = false;                    // may workers of one process update together?
};

// One worker at one step: the replica's gradients are those of its own batch.
struct SyncStep {
  Replica& replica;
  Optimizer& optimizer;
  Communicator& communicator;
  std::int64_t index = 0;  // counts from 0
  Rates rates;
  double loss = 0;          // mean over the batch
  bool meeting = false;     // do all workers meet after this step, whatever the strategy?
  std::size_t samples = 0;  // of the batch
};

// What comes next for a worker: a step of training, or a meeting of all.
struct Turn {
  bool trains = true;
  std::int64_t step = 0;  // to take; before a meeting: how many are done
  int helps = -1;         // the worker whose batch of that step to take, if not one's own
};

// How old what pushes were made from had become when they reached the server.
struct StalenessRecord {
  std::vector<std::int64_t> pushes;  // by staleness
  std::int64_t rejected = 0;         // of them, too old to be applied

  void add(std::int64_t staleness, bool was_rejected);
};

// With what a strategy goes together.
struct SyncTraits {
  bool all_reduce = true;      // [aggregate] via = "allreduce"
  bool server = true;          // [aggregate] via = "server"
  bool averages = true;        // does it want nothing of a server but averages?
  bool inbox = false;          // does it take messages from anybody (SyncSetup::arrivals)?
  bool own_models = true;      // do workers have parameters of their own, at least for a while?
  bool merges = false;         // may workers be computed together as one large batch?
  bool resizes = false;        // may a run go on with another number of workers?
  bool in_step = true;         // do all workers take the same number of steps?
  bool by_step = true;         // has every step its batches, one a worker, whoever computes them?
  bool every_step = false;     // do all workers wait for each other in every step?
  bool pushes_models = false;  // does a worker send its model to a server?
  bool amplifies = false;      // has it a momentum over averages, which grows with their errors?
  bool gradients = false;      // does it average gradients, at least for a while?
  bool apart = false;          // does each household train a model of its own?
};

class SyncStrategy {
 public:
  virtual ~SyncStrategy() = default;
  virtual SyncTraits traits() const { return {}; }
  // Into how many groups of equal size the strategy divides the workers: what [assign] takes for
  // households and neighbourhoods. Throws a ConfigError if they do not divide.
  virtual int households(int /*workers*/) const { return 1; }
  virtual int neighbourhoods(int /*workers*/) const { return 1; }
  virtual bool equal_households() const { return true; }
  // L_W, every how many steps all workers agree, if that never changes and households agree every
  // step: what [train] effective_batch is made of. Throws a ConfigError that says why if not.
  virtual std::optional<std::int64_t> world_period() const { return {}; }

  // Collective. Once, before the first step and before state() is called.
  virtual void prepare(const SyncSetup&) {}
  // Collective. Training begins, or goes on after a checkpoint was loaded.
  virtual void start() {}
  // Collective. state() will be called next to save it.
  virtual void before_saving() {}
  // `done` steps are done by this worker; all meet at `until`.
  virtual Turn next(std::int64_t done, std::int64_t until) { return {done < until, done}; }
  // The user wants the run to stop: meet soon, where that is not every few steps anyway.
  virtual void close() {}
  // With whom this step's gradients will be averaged by step(), if they will: then that may begin
  // before backward is over.
  virtual Communicator* gradient_members(std::int64_t /*step*/) { return nullptr; }
  // Before forward: may add to the batch what the loss is to see. Its time counts as computing.
  virtual void before(const SyncStep&, Batch&) {}
  virtual void step(SyncStep& step) = 0;
  // After the last step: leaves one consistent model on all workers.
  virtual void finish(SyncStep& last) = 0;

  // Is there, after this step, a model that all workers know? Only then may it be validated.
  virtual bool consistent_now() const = 0;
  // Collective, and only where consistent_now(): puts that model into the replica's parameters and
  // buffers. The caller keeps what was there and puts it back. By default it is there already, but
  // for running statistics, which are averaged.
  virtual void show_model(SyncStep& step);
  virtual const StalenessRecord* staleness() const { return nullptr; }  // of this worker

  // What a server shard does for this strategy; called where the shard is.
  virtual std::unique_ptr<ShardRule> shard_rule(ShardSetup setup) const;
  virtual void state(StateVisitor& visitor) = 0;
};

template <>
Registry<SyncStrategy>& Registry<SyncStrategy>::instance();

// Have the gradients of 16-bit numbers overflowed? Tells the replica too; called once a step.
bool overflowed(Replica& replica);

// The optimizer's step with the replica's gradients, unless they have overflowed.
void take_step(SyncStep& step);

// Averages the gradients and takes the optimizer's step with what is there of them, unless they
// have overflowed.
void average_and_step(SyncStep& step, Communicator& members);

// The average of the replica's parameters and running statistics over a group of workers. Exact,
// or with Content::kModel as the parameters may be compressed.
void average_model(Replica& replica, Communicator& communicator, Content content = Content::kOther);

}  // namespace lockstep
