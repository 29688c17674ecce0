// How many learners a core: the option `learners` of [sync] made into [cluster] workers. A learner
// with a small batch leaves a core idle now and then; several of them fill it, up to a number that
// only measuring tells (Koliousis et al. 2019, Crossbow).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lockstep/train/job.h"
#include "lockstep/transport/world.h"

namespace lockstep {

struct LearnerSearch {
  std::vector<double> found;  // samples a second with 1, 2, … learners a core
  int best = 1;
};

// Tries 1, 2, 3, … learners as long as one more raises the throughput by a share of at least
// `gain`, and at most `most`.
LearnerSearch search_learners(const std::function<double(int learners)>& throughput, double gain,
                              int most);

// Sets [cluster] workers where the strategy has `learners` and they are given; `learners` is empty
// then, so that a run goes on with the same workers anywhere. "auto" trains for a few steps with
// each number, for which the data are loaded into `ingredients`. Returns what to tell the user.
// Refuses, as a ConfigError, worlds whose cores are not those of this machine.
std::vector<std::string> settle_learners(World& world, Config& config, Ingredients& ingredients);

}  // namespace lockstep
