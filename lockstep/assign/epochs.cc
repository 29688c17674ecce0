#include "lockstep/assign/epochs.h"

#include <cmath>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) {
  LOCKSTEP_CHECK(a >= 0 && b > 0, "{} divided by {}", a, b);
  return (a + b - 1) / b;
}

void check_positive(std::int64_t batch, const char* what) {
  if (batch < 1) throw ConfigError("{} = {}; it must be at least 1", what, batch);
}

}  // namespace

std::int64_t overlap_epochs(std::int64_t epochs, double copies) {
  LOCKSTEP_CHECK(copies >= 1, "{} copies", copies);
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(epochs) / copies));
}

double effective_epochs(std::int64_t epochs, double copies) {
  return static_cast<double>(overlap_epochs(epochs, copies)) * copies;
}

std::int64_t validation_interval(std::int64_t samples, std::int64_t global_batch) {
  return ceil_divide(samples, global_batch);
}

double household_rate_factor(int households, std::int64_t world_period) {
  LOCKSTEP_CHECK(households > 0 && world_period > 0, "{} households, period {}", households,
                 world_period);
  const auto h = static_cast<double>(households), l = static_cast<double>(world_period);
  return l * h / (h + l - 1);
}

std::int64_t household_local_batch(std::int64_t effective_batch, int workers, int households,
                                   std::int64_t world_period) {
  check_positive(effective_batch, "the effective batch");
  const double exact = static_cast<double>(effective_batch) *
                       household_rate_factor(households, world_period) / workers;
  const std::int64_t rounded = std::llround(exact);
  if (rounded < 1) {
    throw ConfigError(
        "an effective batch of {} gives each of {} workers {:.2f} samples a step; it must be at "
        "least {}",
        effective_batch, workers, exact,
        std::ceil(0.5 * workers / household_rate_factor(households, world_period)));
  }
  return rounded;
}

std::int64_t training_steps(std::int64_t samples, int workers, std::int64_t local_batch,
                            std::int64_t epochs) {
  return ceil_divide(samples, workers * local_batch) * epochs;
}

std::int64_t world_synchronizations(std::int64_t steps, std::int64_t world_period) {
  return ceil_divide(steps, world_period);
}

std::int64_t local_batch_of(std::int64_t global_batch, int workers) {
  check_positive(global_batch, "the global batch");
  LOCKSTEP_CHECK(workers > 0, "{} workers", workers);
  const std::int64_t below = global_batch / workers * workers;
  if (below == global_batch) return global_batch / workers;
  if (below == 0) {
    throw ConfigError(
        "a global batch of {} cannot be shared equally by {} workers; the nearest is "
        "{}",
        global_batch, workers, workers);
  }
  throw ConfigError(
      "a global batch of {} cannot be shared equally by {} workers; the nearest are "
      "{} and {}",
      global_batch, workers, below, below + workers);
}

std::int64_t global_batch_of(std::int64_t local_batch, int workers) {
  check_positive(local_batch, "the local batch");
  return local_batch * workers;
}

}  // namespace lockstep
