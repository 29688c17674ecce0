#include "lockstep/compress/on_runs.h"

#include "lockstep/base/half.h"

namespace lockstep {

void OnRuns::check_finite(std::uint32_t largest, std::span<const float> values) const {
  if (largest >= kNotFinite) refuse_non_finite(values, layers_);
}

}  // namespace lockstep
