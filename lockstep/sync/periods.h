// How long the blocks of local SGD are where that changes on the way. Pure functions.
#pragma once

#include <cstdint>

namespace lockstep {

enum class Growth { kGeometric, kLinear };

// From 1 at the beginning of training (`progress` 0) to `longest` at its end (1), rounded:
// longest^progress, or 1 + (longest − 1)·progress.
std::int64_t warm_period(Growth growth, double progress, std::int64_t longest);

// AdaComm's rule after an interval whose mean loss was `loss`: ⌈√(loss/first_loss)·first⌉; if that
// is not shorter than the `current` period, max(1, ⌈shrink·current⌉).
std::int64_t adacomm_period(double loss, double first_loss, std::int64_t first,
                            std::int64_t current, double shrink);

}  // namespace lockstep
