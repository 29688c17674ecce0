// Models of other workers that come compressed, difference by difference: what each peer knows of
// this worker's, and what this worker knows of each peer's.
//
// What is known of a model lags behind it. To mix with it as if it were the model would pull a
// worker back to where others once were. So a message says how far what arrives is from the model
// (‖x − x̂‖², its error), and of the way towards it only the share
//
//   1 − error / ‖way‖²,   at least 0
//
// is gone: all of it where nothing is lost, none where the way is nothing but lag.
#pragma once

#include <map>

#include "lockstep/compress/model_stream.h"
#include "lockstep/model/replica.h"

namespace lockstep {

class PeerModels {
 public:
  // `worker` is the own number; all begin with the replica's model.
  PeerModels(const CompressionPlan& plan, Replica& replica, std::uint64_t seed, int worker);

  // What this worker says of itself to some peer, or to all of them alike (kEverybody).
  static constexpr int kEverybody = -1;
  ModelStream& to(int peer) { return stream(to_, peer, 0); }
  ModelStream& from(int peer) { return stream(from_, peer, 1); }
  // What a peer's model is after this message of it. A CommError if it is none.
  std::span<const float> take(int peer, BytesView message) {
    from(peer).take(message);
    return from(peer).known();
  }
  void state(StateVisitor& visitor);

 private:
  ModelStream& stream(std::map<int, ModelStream>& streams, int peer, int direction);
  void state_of(StateVisitor& visitor, std::map<int, ModelStream>& streams, int direction);

  const CompressionPlan& plan_;
  std::vector<Layer> layers_;
  AlignedVector<float> start_;
  std::uint64_t seed_;
  int worker_;
  std::map<int, ModelStream> to_, from_;
};

double squared_distance(std::span<const float> a, std::span<const float> b);
// The share of a way that is gone.
double share_of_way(double error, double squared_way);

}  // namespace lockstep
