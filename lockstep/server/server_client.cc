#include "lockstep/server/server_client.h"

#include <algorithm>

#include "lockstep/base/error.h"

namespace lockstep {

ServerClient::ServerClient(Transport& transport, ShardMap map, std::vector<int> ranks)
    : transport_(transport),
      map_(std::move(map)),
      ranks_(std::move(ranks)),
      sending_(ranks_.size()),
      receiving_(ranks_.size()),
      headers_(ranks_.size()) {
  LOCKSTEP_CHECK(map_.shards() == static_cast<int>(ranks_.size()), "{} shards on {} ranks",
                 map_.shards(), ranks_.size());
  for (int shard = 0; shard < map_.shards(); ++shard) {
    requests_.emplace_back(map_.range(shard).size);
    answers_.emplace_back(map_.range(shard).size);
  }
}

void ServerClient::send(int shard, ServerHeader header, std::span<const float> values) {
  const auto at = static_cast<std::size_t>(shard);
  header.worker = transport_.rank();
  transport_.wait(sending_[at]);
  const auto own = values.empty() ? values : slice(values, map_.range(shard));
  const auto bytes = requests_[at].write(header, own);
  traffic_.sent += bytes.size();
  sending_[at] = transport_.isend(ranks_[at], kServerTag, bytes);
}

void ServerClient::receive(int shard, std::span<float> into) {
  const auto at = static_cast<std::size_t>(shard);
  transport_.wait(receiving_[at]);
  headers_[at] = answers_[at].read(receiving_[at].bytes());
  traffic_.received += receiving_[at].bytes();
  const auto values = answers_[at].values();
  if (values.empty()) return;
  const Range range = map_.range(shard);
  if (values.size() != range.size || into.size() != map_.size()) {
    throw CommError("shard {} answered with {} values instead of {}", shard, values.size(),
                    into.empty() ? 0 : range.size);
  }
  std::copy(values.begin(), values.end(), into.begin() + static_cast<std::ptrdiff_t>(range.begin));
}

std::span<const ServerHeader> ServerClient::ask(ServerHeader header, std::span<const float> values,
                                                std::span<float> into) {
  const Operation operation(transport_, "asking the server");
  transport_.step("push and pull", 0, 1);
  const double began = transport_.now();
  const int shards = map_.shards();
  for (int shard = 0; shard < shards; ++shard) {
    const auto at = static_cast<std::size_t>(shard);
    receiving_[at] = transport_.irecv(ranks_[at], kServerTag + 1, answers_[at].room());
  }
  // Starting behind oneself spreads the first messages over all shards.
  for (int k = 0; k < shards; ++k) send((transport_.rank() + k) % shards, header, values);
  double held = 0;
  for (int k = 0; k < shards; ++k) {
    const int shard = (transport_.rank() + k) % shards;
    receive(shard, into);
    held = std::max(held, headers_[static_cast<std::size_t>(shard)].held);
  }
  ++traffic_.rounds;
  traffic_.held += held;
  traffic_.seconds += transport_.now() - began;
  return headers_;
}

ServerHeader ServerClient::ask_one(int shard, ServerHeader header) {
  const Operation operation(transport_, "asking the server");
  transport_.step("one shard", 0, 1);
  const auto at = static_cast<std::size_t>(shard);
  const double began = transport_.now();
  receiving_[at] = transport_.irecv(ranks_[at], kServerTag + 1, answers_[at].room());
  send(shard, header, {});
  receive(shard, {});
  ++traffic_.rounds;
  traffic_.held += headers_[at].held;
  traffic_.seconds += transport_.now() - began;
  return headers_[at];
}

void ServerClient::leave() {
  for (int shard = 0; shard < map_.shards(); ++shard) send(shard, {.kind = kLeave}, {});
  for (Request& request : sending_) transport_.wait(request);
}

}  // namespace lockstep
