// Loss and accuracy over many samples, shared out among the ranks.
#pragma once

#include <span>

#include "lockstep/collective/group.h"
#include "lockstep/data/loader.h"
#include "lockstep/model/replica.h"

namespace lockstep {

// Sums over samples; adds up over workers and steps.
struct Tallies {
  double loss = 0;  // sum over the labels
  double labels = 0;
  double correct = 0;
  double samples = 0;

  void add(const PassResult& result, std::size_t batch);
  void add(const Tallies& other);
  double mean_loss() const { return labels > 0 ? loss / labels : 0; }
  double accuracy() const { return labels > 0 ? correct / labels : 0; }
};

// Collective: the sum over the members, in their order, the same on all.
Tallies sum_over(Group& group, const Tallies& mine);

// Collective. Every member evaluates its share of the samples.
Tallies evaluate(Group& group, Replica& replica, const Loader& loader,
                 std::span<const SampleId> samples);

}  // namespace lockstep
