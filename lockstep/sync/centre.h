// What strategies have in common that keep a centre: a model beside the workers' own, which all of
// them know and which is what training is about.
#pragma once

#include <span>

#include "lockstep/sync/strategy.h"

namespace lockstep {

// α as an option says it, where a negative one stands for `share` divided among the workers.
double pull_of(double option, double share, int workers);

// Collective: puts the centre into the replica. It has no running statistics of its own; those of
// the workers are averaged.
void show_centre(SyncStep& step, std::span<const float> centre);

}  // namespace lockstep
