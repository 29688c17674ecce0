#include "lockstep/assign/sampler.h"

#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"

namespace lockstep {
namespace {

std::vector<SampleId> ascending(std::size_t count) {
  std::vector<SampleId> places(count);
  std::iota(places.begin(), places.end(), SampleId{0});
  return places;
}

}  // namespace

Sampler::Sampler(const Assignment& assignment, const SampleSet& set, const Layout& layout,
                 Sampling sampling, std::uint64_t seed)
    : samples_(set.samples.begin(), set.samples.end()),
      places_(assignment.assign({ascending(set.samples.size()), set.labels}, layout,
                                sampling.shuffled(), seed)),
      copies_(assignment.copies(layout)),
      sampling_(sampling),
      seed_(seed) {}

std::vector<SampleId> Sampler::order(int worker, std::int64_t epoch) const {
  LOCKSTEP_CHECK(worker >= 0 && worker < workers() && epoch >= 0, "worker {}, epoch {}", worker,
                 epoch);
  std::vector<SampleId> order = places_.of[static_cast<std::size_t>(worker)];
  const bool global = sampling_.scope == Scope::kGlobal;
  const auto round = static_cast<std::uint64_t>(sampling_.shuffle == Shuffle::kEpoch ? epoch : 0);
  if (global) {
    // Another sample at every place: the same for all workers, so what was disjoint stays so.
    auto moved = ascending(samples_.size());
    Random(seed_, "redistribute", 0, round).shuffle(std::span(moved));
    for (SampleId& place : order) place = moved[place];
  }
  Random random(seed_, "sample", static_cast<std::uint64_t>(worker), round);
  if (sampling_.replacement) {
    const std::vector<SampleId> shard = order;
    for (SampleId& place : order) place = shard[random.below(shard.size())];
  } else if (sampling_.shuffled()) {
    // The assignment has shuffled all samples once; that is enough for shards nobody else has.
    // Workers with samples in common must not see them at the same time.
    const bool in_new_order = copies_ > 1 || (sampling_.shuffle == Shuffle::kEpoch && !global);
    if (in_new_order) random.shuffle(std::span(order));
  }
  for (SampleId& place : order) place = samples_[place];
  return order;
}

std::vector<std::size_t> Sampler::shard_sizes() const {
  std::vector<std::size_t> sizes;
  for (const auto& shard : places_.of) sizes.push_back(shard.size());
  return sizes;
}

std::span<const SampleId> SampleStream::batch(const BatchPlan& plan, std::int64_t epoch,
                                              std::int64_t step) {
  if (epoch != epoch_) {
    order_ = sampler_->order(worker_, epoch);
    epoch_ = epoch;
  }
  const auto [begin, size] = plan.slice(worker_, step);
  return std::span(order_).subspan(begin, size);
}

}  // namespace lockstep
