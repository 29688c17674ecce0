// A worker's door to the server: hands every shard its slice of a vector and takes their answers.
// All shards are asked at once, so what goes to one travels while another works.
#pragma once

#include <vector>

#include "lockstep/server/shard_map.h"
#include "lockstep/server/shard_server.h"

namespace lockstep {

struct ServerTraffic {
  std::uint64_t sent = 0, received = 0;  // bytes
  std::uint64_t rounds = 0;              // of asking, all shards or one
  double held = 0;                       // seconds that the slowest shard let this worker wait
  double seconds = 0;                    // from asking to the last answer
};

class ServerClient {
 public:
  // `ranks[s]` holds shard s of the map.
  ServerClient(Transport& transport, ShardMap map, std::vector<int> ranks);

  // Asks all shards; `values` is the whole vector, or empty. Answers with values are written where
  // they belong in `into`. Returns the answers' headers, by shard.
  std::span<const ServerHeader> ask(ServerHeader header, std::span<const float> values,
                                    std::span<float> into);
  // Asks one shard, without values.
  ServerHeader ask_one(int shard, ServerHeader header);
  // Tells all shards; no answer comes.
  void leave();

  const ShardMap& map() const { return map_; }
  const ServerTraffic& traffic() const { return traffic_; }

 private:
  void send(int shard, ServerHeader header, std::span<const float> values);
  void receive(int shard, std::span<float> into);

  Transport& transport_;
  ShardMap map_;
  std::vector<int> ranks_;
  std::vector<ServerMessage> requests_, answers_;
  std::vector<Request> sending_, receiving_;
  std::vector<ServerHeader> headers_;
  ServerTraffic traffic_;
};

}  // namespace lockstep
