#include "lockstep/sync/combining.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

bool owners_pay(const CompressionPlan& plan, int members) {
  if (plan.combining() != Combining::kAuto) return plan.combining() == Combining::kOwner;
  const double m = members;  // in messages
  return 2 * (m - 1) / m < m - 1;
}

std::string describe_combining(const CompressionPlan& plan, std::span<const Layer> layers,
                               int members) {
  std::string text;
  for (std::size_t phase = 0; phase < plan.phases(); ++phase) {
    std::string lanes;
    for (const auto& lane : plan.lanes(phase, layers)) {
      if (lane.name == "none") continue;
      const auto compressor = plan.make(lane, Feedback::kNone);
      const bool adds = compressor->summands() != nullptr;
      const auto plain = static_cast<double>(size_of(runs_of(lane.layers)) * sizeof(float));
      const char* how = adds                        ? "adds up"
                        : owners_pay(plan, members) ? "by owners of chunks"
                                                    : "gathered by everybody";
      lanes += fmt::format("{}{} {}, messages about 1/{:.0f}", lanes.empty() ? "" : "; ", lane.name,
                           how, plain / std::max(1.0, compressor->expected_bytes({})));
    }
    text += fmt::format("{}{}", text.empty() ? "" : "; then ", lanes.empty() ? "plain" : lanes);
  }
  return text;
}

}  // namespace lockstep
