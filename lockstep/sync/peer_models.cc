#include "lockstep/sync/peer_models.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep {

PeerModels::PeerModels(const CompressionPlan& plan, Replica& replica, std::uint64_t seed,
                       int worker)
    : plan_(plan),
      layers_(replica.layers().begin(), replica.layers().end()),
      start_(replica.params().begin(), replica.params().end()),
      seed_(seed),
      worker_(worker) {
  plan.check_rules(layers_);
}

ModelStream& PeerModels::stream(std::map<int, ModelStream>& streams, int peer, int direction) {
  const auto found = streams.find(peer);
  if (found != streams.end()) return found->second;
  const std::uint64_t own = (std::uint64_t{3} << 60) + (static_cast<std::uint64_t>(worker_) << 32) +
                            2 * static_cast<std::uint64_t>(peer + 1) +
                            static_cast<std::uint64_t>(direction);
  return streams.emplace(peer, ModelStream(plan_, layers_, start_, seed_, own)).first->second;
}

void PeerModels::state(StateVisitor& visitor) {
  StateScope to(visitor, "to"), from(visitor, "from");
  state_of(to, to_, 0);
  state_of(from, from_, 1);
}

void PeerModels::state_of(StateVisitor& visitor, std::map<int, ModelStream>& streams,
                          int direction) {
  std::vector<int> peers;
  for (const auto& [peer, model] : streams) peers.push_back(peer);
  visit_list(visitor, "peers", peers);
  for (const int peer : peers) {
    if (peer < kEverybody) throw DataError("a checkpoint has a model of worker {}", peer);
    StateScope one(visitor, fmt::format("peer{}", peer));
    stream(streams, peer, direction).state(one);
  }
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - b[i];
    sum += difference * difference;
  }
  return sum;
}

double share_of_way(double error, double squared_way) {
  return squared_way > error && error >= 0 ? 1 - error / squared_way : 0;
}

}  // namespace lockstep
