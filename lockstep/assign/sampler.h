// In which order a worker goes through its samples. Everything is a pure function of seed, worker
// and epoch, so any batch of any epoch can be had at once: a run may stop and go on anywhere.
//
// Disjoint shards are dealt like cards: worker i of M has places i, i+M, i+2M, … of the order of
// the whole set. So unless workers shuffle for themselves (shuffle = "epoch" with scope = "local"),
// the M batches of a step are together just the samples that one worker with an M times larger
// batch would see in that step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/assign/assignment.h"
#include "lockstep/assign/batch_plan.h"
#include "lockstep/assign/sampling.h"

namespace lockstep {

// For all workers; may be used by several at once.
class Sampler {
 public:
  Sampler(const Assignment& assignment, const SampleSet& set, const Layout& layout,
          Sampling sampling, std::uint64_t seed);

  // The samples of `worker` in `epoch`, in order; as many in every epoch.
  std::vector<SampleId> order(int worker, std::int64_t epoch) const;
  std::vector<std::size_t> shard_sizes() const;
  BatchPlan plan(std::size_t local_batch) const { return {shard_sizes(), local_batch}; }

  int workers() const { return static_cast<int>(places_.of.size()); }
  double copies() const { return copies_; }

 private:
  std::vector<SampleId> samples_;
  Shards places_;  // in samples_
  double copies_;
  Sampling sampling_;
  std::uint64_t seed_;
};

// One worker's batches. Keeps the order of the epoch that was asked for last.
class SampleStream {
 public:
  SampleStream(const Sampler& sampler, int worker) : sampler_(&sampler), worker_(worker) {}

  // Valid until the next call. The plan may be another one every epoch: batches may grow.
  std::span<const SampleId> batch(const BatchPlan& plan, std::int64_t epoch, std::int64_t step);

 private:
  const Sampler* sampler_;
  int worker_;
  std::int64_t epoch_ = -1;
  std::vector<SampleId> order_;
};

}  // namespace lockstep
