// The arithmetic of epochs and batches, as pure functions.
//
//   N samples, M workers, B global batch, b local batch, E epochs, C copies of a sample,
//   H households, L_W steps between synchronizations of the world
#pragma once

#include <cstdint>

namespace lockstep {

// An epoch of overlapping shards shows every sample C times, so fewer are needed: ⌈E/C⌉, which
// show every sample ⌈E/C⌉·C times (effective epochs).
std::int64_t overlap_epochs(std::int64_t epochs, double copies);
double effective_epochs(std::int64_t epochs, double copies);

// Steps between two validations, ⌈N/B⌉: the same whatever the assignment.
std::int64_t validation_interval(std::int64_t samples, std::int64_t global_batch);

// Households that average every step inside and every L_W steps over the world work with an
// effective batch B_e = B_h(H + L_W − 1)/L_W, where B_h = b·M/H. Solved for b and rounded to the
// nearest: B_e·L_W·H / (M(H + L_W − 1)). A ConfigError if that is no sample at all.
std::int64_t household_local_batch(std::int64_t effective_batch, int workers, int households,
                                   std::int64_t world_period);
// The linear scaling rule for them multiplies the learning rate by L_W·H/(H + L_W − 1).
double household_rate_factor(int households, std::int64_t world_period);

// Steps of E epochs, ⌈N/(M·b)⌉·E, and how often the world synchronizes in them, ⌈steps/L_W⌉.
std::int64_t training_steps(std::int64_t samples, int workers, std::int64_t local_batch,
                            std::int64_t epochs);
std::int64_t world_synchronizations(std::int64_t steps, std::int64_t world_period);

// b = B/M. A ConfigError names the nearest batches that divide.
std::int64_t local_batch_of(std::int64_t global_batch, int workers);
std::int64_t global_batch_of(std::int64_t local_batch, int workers);

}  // namespace lockstep
