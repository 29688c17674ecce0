#include "lockstep/overlap/compressed_time.h"

namespace lockstep {

double compressed_beta(double beta, const CompressionPlan* plan, std::span<const Layer> layers) {
  if (plan == nullptr) return beta;
  double plain = 0, sent = 0, coding = 0;
  for (const auto& lane : plan->lanes(0, layers)) {
    const auto compressor = plan->make(lane, Feedback::kNone);
    const auto bytes = static_cast<double>(size_of(runs_of(lane.layers)) * sizeof(float));
    plain += bytes;
    sent += compressor->expected_bytes({});
    coding += bytes / compressor->speed().encode + bytes / compressor->speed().decode;
  }
  return plain > 0 ? (beta * sent + coding) / plain : beta;
}

}  // namespace lockstep
