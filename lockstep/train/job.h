// What all ranks of a process share before they start: the configuration made into data, shards,
// a plan of steps and rates. Everything in it is a pure function of the configuration, so that
// processes agree without talking.
#pragma once

#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "lockstep/assign/assignment.h"
#include "lockstep/assign/sampler.h"
#include "lockstep/compress/compression_plan.h"
#include "lockstep/data/loader.h"
#include "lockstep/data/split.h"
#include "lockstep/model/replica.h"
#include "lockstep/optim/rate_plan.h"
#include "lockstep/overlap/bucketing.h"
#include "lockstep/sync/strategy.h"
#include "lockstep/train/batch_size.h"
#include "lockstep/train/parallel.h"
#include "lockstep/train/placement.h"
#include "lockstep/train/slowdown.h"
#include "lockstep/train/step_plan.h"

namespace lockstep {

// What a program brings itself instead of naming it in the configuration.
struct Ingredients {
  std::shared_ptr<const Dataset> dataset;
  std::shared_ptr<const ModelKind> model;
};

class Job {
 public:
  Job(Config config, Ingredients ingredients, int ranks_given);

  const Config& config() const { return config_; }
  const Placement& placement() const { return placement_; }
  const Dataset& dataset() const { return *dataset_; }
  const Split& split() const { return split_; }
  const Sampler& sampler() const { return *sampler_; }
  const Loader& loader() const { return *loader_; }
  const StepPlan& plan() const { return *plan_; }
  const ModelKind& model() const { return *model_; }
  const ModelSettings& model_settings() const { return settings_; }
  std::uint64_t seed() const;
  std::size_t local_batch() const { return batch_.local; }  // at the start; it may grow
  std::size_t global_batch() const;
  int models() const { return models_; }  // that are trained at once, by equally many workers each
  int statistics_workers() const { return statistics_workers_; }  // that share batch norm; 1: none
  std::vector<double> snapshots() const { return schedule_->snapshots(); }

  const Slowdown& slowdown() const { return *slowdown_; }
  Rates rates(std::int64_t step) const;
  const BatchPlan& batch_plan(const StepPosition& at) const;
  // Of a step, all workers together.
  std::size_t samples_in(std::int64_t step) const;
  // Of a step, some consecutive workers together.
  std::size_t samples_in(std::int64_t step, int first_worker, int workers) const;
  // Steps between two things that happen every so many passes over the data, from that step on.
  std::int64_t interval(double epochs, std::int64_t step) const;
  std::unique_ptr<Optimizer> make_optimizer() const;
  std::unique_ptr<SyncStrategy> make_strategy() const;
  std::unique_ptr<Bucketing> make_bucketing() const;
  const SyncTraits& traits() const { return traits_; }                       // of the strategy
  const CompressionPlan* compression() const { return compression_.get(); }  // null: there is none
  const Parallel* parallel() const { return parallel_.get(); }  // null: the model is not cut
  bool has_server() const;
  int shards() const;  // of the server, if there is one

  // Replays the order in which messages arrived in an earlier run, place by place.
  void replay(std::vector<std::vector<int>> arrivals) { replay_ = std::move(arrivals); }
  const std::optional<std::vector<std::vector<int>>>& replay() const { return replay_; }

  // Set to the step after which all ranks of this process stop early.
  mutable std::atomic<std::int64_t> stop_after{std::numeric_limits<std::int64_t>::max()};

 private:
  void settle_compression();
  void check_overlap() const;
  void cut_model();
  void settle_statistics();
  void share_out_samples();
  void make_plan();

  Config config_;
  std::shared_ptr<const Dataset> dataset_;
  std::shared_ptr<const ModelKind> model_;
  SyncTraits traits_;
  Placement placement_;
  std::unique_ptr<CompressionPlan> compression_;
  std::unique_ptr<Slowdown> slowdown_;
  Split split_;
  std::unique_ptr<Loader> loader_;
  std::unique_ptr<Sampler> sampler_;
  BatchSize batch_;
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<RatePlan> rate_plan_;
  std::unique_ptr<StepPlan> plan_;
  std::map<std::size_t, BatchPlan> batch_plans_;  // by local batch
  ModelSettings settings_;
  std::unique_ptr<Parallel> parallel_;
  int models_ = 1;
  int statistics_workers_ = 1;
  std::optional<std::vector<std::vector<int>>> replay_;
};

}  // namespace lockstep
