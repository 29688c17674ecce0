// A comparison as a plot: the curves of its lines, or their results along an axis of the sweep.
#pragma once

#include "lockstep/experiment/comparison.h"
#include "lockstep/experiment/plot.h"

namespace lockstep {

// Validation accuracy against epochs, or samples where epochs are not alike; a band of one standard
// deviation around each line.
Plot plot_of_curves(const Comparison& comparison);

// Final accuracies against the points of `axis`, one line for every combination of the others;
// published results are dashed. `relative`: as differences from the baseline, ours from ours and
// published ones from what was published for it; so studies of different scales can be compared.
// A ConfigError that names the axes there are.
Plot plot_along(const Comparison& comparison, const std::string& axis, bool relative);

}  // namespace lockstep
