// Assignments as a user would name them, and what they gave.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "lockstep/assign/assignment.h"

namespace lockstep {

using Settings = std::map<std::string, std::string>;

inline std::unique_ptr<Assignment> made(const std::string& name, const Settings& settings = {}) {
  auto& registry = Registry<Assignment>::instance();
  Options options = registry.options(name);
  for (const auto& [key, value] : settings) options.set(key, value);
  return registry.make(name, options);
}

inline std::vector<SampleId> first_samples(std::size_t count) {
  std::vector<SampleId> samples(count);
  std::iota(samples.begin(), samples.end(), SampleId{0});
  return samples;
}

// Samples 0 … count−1, of class number mod 10.
inline Shards assigned(const Assignment& assignment, std::size_t count, const Layout& layout,
                       bool shuffled = true, std::uint64_t seed = 1) {
  const auto samples = first_samples(count);
  std::vector<std::int64_t> labels(count);
  for (std::size_t i = 0; i < count; ++i) labels[i] = static_cast<std::int64_t>(i % 10);
  return assignment.assign({samples, labels}, layout, shuffled, seed);
}

// How many workers have each sample.
inline std::vector<int> holders(const Shards& shards, std::size_t count) {
  std::vector<int> counts(count);
  for (const auto& shard : shards.of) {
    for (const SampleId sample : shard) ++counts.at(sample);
  }
  return counts;
}

// Samples that two workers have in common.
inline std::size_t in_common(const Shards& shards, int a, int b) {
  auto one = shards.of[static_cast<std::size_t>(a)], other = shards.of[static_cast<std::size_t>(b)];
  std::sort(one.begin(), one.end());
  std::sort(other.begin(), other.end());
  std::vector<SampleId> both;
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                        std::back_inserter(both));
  return both.size();
}

}  // namespace lockstep
