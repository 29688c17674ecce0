// Who sees which samples. An assignment gives every worker a list of samples; a sampler (sampler.h)
// says in which order the worker goes through it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lockstep/base/registry.h"
#include "lockstep/data/batch.h"

namespace lockstep {

// How the workers are arranged. Worker w belongs to household w / (workers / households), and so on
// for neighbourhoods of households.
struct Layout {
  int workers = 1;
  int households = 1;
  int neighbourhoods = 1;
  bool equal_households = true;  // else only their number is known
};

// What is to be shared out. `labels[i]` belongs to `samples[i]`; empty where there are no classes.
struct SampleSet {
  std::span<const SampleId> samples;
  std::span<const std::int64_t> labels;
};

// Each worker's samples stand in the order in which the whole set was shared out.
struct Shards {
  std::vector<std::vector<SampleId>> of;  // worker → its samples
};

class Assignment {
 public:
  virtual ~Assignment() = default;
  // Throws a ConfigError if the layout does not fit, and says which values would, or if a worker
  // would have nothing.
  // `seed` shuffles the samples first; with `shuffled` false they are taken in order.
  Shards assign(const SampleSet& set, const Layout& layout, bool shuffled,
                std::uint64_t seed) const;
  virtual double copies(const Layout& layout) const = 0;  // C: on how many workers a sample is

 private:
  // Takes the samples in the order given. `seed` is for what else is left to chance.
  virtual Shards share_out(const SampleSet& set, const Layout& layout,
                           std::uint64_t seed) const = 0;
};

template <>
Registry<Assignment>& Registry<Assignment>::instance();

// The options every assignment has: those of the sampler (sampling.h reads them).
OptionSet sampling_options();

}  // namespace lockstep
