// How long the units of a model and a message between two ranks take here: what a cut is made by.
#pragma once

#include "lockstep/collective/group.h"
#include "lockstep/model/replica.h"
#include "lockstep/pipeline/stage_plan.h"
#include "lockstep/transport/transport.h"

namespace lockstep {

// Of a micro-batch of `samples`. Collective: every member makes one unit in turn, tries it a few
// times and drops it, so that nobody holds them all. On a simulated clock: as modelled.
std::vector<UnitTimes> measure_units(Group& group, const ModelKind& model,
                                     const ModelSettings& settings,
                                     const std::vector<ModelUnit>& units, std::size_t samples);

// By messages there and back. Called by two ranks, each with the other, of which one leads.
LinkTimes measure_hop(Transport& transport, int other, bool leads);

}  // namespace lockstep
