// A worker's door to the server: hands every shard its slice of a vector and takes their answers.
// All shards are asked at once, so what goes to one travels while another works.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "lockstep/compress/model_stream.h"
#include "lockstep/server/shard_map.h"
#include "lockstep/server/shard_server.h"

namespace lockstep {

struct ServerTraffic {
  std::uint64_t sent = 0, received = 0;  // bytes
  std::uint64_t rounds = 0;              // of asking, all shards or one
  double held = 0;                       // seconds that the slowest shard let this worker wait
  double seconds = 0;                    // from asking to the last answer
  std::uint64_t plain = 0;               // bytes that would have been sent without compression
  double encoding = 0, decoding = 0;     // seconds, which count in `seconds` too
};

class ServerClient {
 public:
  // `ranks[s]` holds shard s of the map.
  ServerClient(Transport& transport, ShardMap map, std::vector<int> ranks);
  // From now on what may be is sent compressed. `params`: as training begins, if models are going
  // to be sent, else empty.
  void compress(const CompressionPlan& plan, std::span<const float> params, std::uint64_t seed);
  void begin_step(double epoch) { epoch_ = epoch; }

  // Asks all shards; `values` is the whole vector, or empty, and header.form what it is if it may
  // be compressed. Answers with values are written where they belong in `into`, which must hold
  // what the last answer has left there if answers are models. What messages of one stream leave
  // out comes with later ones of it. Returns the answers' headers, by shard.
  std::span<const ServerHeader> ask(ServerHeader header, std::span<const float> values,
                                    std::span<float> into, std::int64_t stream = 0);
  // Asks one shard, without values.
  ServerHeader ask_one(int shard, ServerHeader header);
  // Tells all shards; no answer comes.
  void leave();

  const ShardMap& map() const { return map_; }
  const ServerTraffic& traffic() const { return traffic_; }
  void state(StateVisitor& visitor);

 private:
  void send(int shard, ServerHeader header, std::span<const float> values, std::int64_t stream = 0);
  void receive(int shard, std::span<float> into);

  std::span<const std::byte> write(std::size_t shard, ServerHeader header,
                                   std::span<const float> values, std::int64_t stream);
  std::uint64_t stream_number(std::uint64_t kind, int shard) const;
  using Stream = std::pair<Form, std::int64_t>;
  std::vector<Compression>& changes(const Stream& stream);  // by shard; made once and kept
  void decode(std::size_t shard, std::span<float> into);
  template <typename Action>
  void timed(double& seconds, double modelled, const Action& action);

  Transport& transport_;
  ShardMap map_;
  std::vector<int> ranks_;
  std::vector<ServerMessage> requests_, answers_;
  std::vector<Request> sending_, receiving_;
  std::vector<ServerHeader> headers_;
  ServerTraffic traffic_;
  double epoch_ = 0;
  const CompressionPlan* plan_ = nullptr;
  std::uint64_t seed_ = 1;
  std::map<Stream, std::vector<Compression>> changes_;
  std::vector<Compression> receivers_;  // by shard, if there is any compression
  std::vector<ModelStream> models_;
  Bytes bytes_;
};

}  // namespace lockstep
