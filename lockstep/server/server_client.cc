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

void ServerClient::compress(const CompressionPlan& plan, std::span<const float> params,
                            std::uint64_t seed) {
  plan_ = &plan;
  seed_ = seed;
  requests_.clear();
  answers_.clear();
  for (int shard = 0; shard < map_.shards(); ++shard) {
    const auto layers = map_.layers_of(shard);
    const Range range = map_.range(shard);
    receivers_.emplace_back(plan, layers, seed, 0, Feedback::kNone);
    if (!params.empty()) {
      models_.emplace_back(plan, layers, slice(params, range), seed, stream_number(0, shard));
    }
    requests_.emplace_back(range.size, true);
    answers_.emplace_back(range.size, true);
  }
}

// Numbers of random streams that no other sender has (see sync/compressed_averaging.cc).
std::uint64_t ServerClient::stream_number(std::uint64_t kind, int shard) const {
  return (std::uint64_t{1} << 61) + (kind << 48) +
         (static_cast<std::uint64_t>(transport_.rank()) << 24) + static_cast<std::uint64_t>(shard);
}

std::vector<Compression>& ServerClient::changes(const Stream& stream) {
  auto& changes = changes_[stream];
  if (!changes.empty()) return changes;
  const auto& [form, number] = stream;
  const Feedback feedback = form == Form::kChange        ? Feedback::kWorker
                            : form == Form::kModelChange ? Feedback::kPlanned
                                                         : Feedback::kNone;
  for (int shard = 0; shard < map_.shards(); ++shard) {
    const std::uint64_t kind =
        1 + static_cast<std::uint64_t>(form) + 8 * (static_cast<std::uint64_t>(number) % 1021);
    changes.emplace_back(*plan_, map_.layers_of(shard), seed_, stream_number(kind, shard),
                         feedback);
  }
  return changes;
}

template <typename Action>
void ServerClient::timed(double& seconds, double modelled, const Action& action) {
  const double began = transport_.now();
  action();
  transport_.charge(modelled);
  seconds += transport_.now() - began;
}

std::span<const std::byte> ServerClient::write(std::size_t shard, ServerHeader header,
                                               std::span<const float> values, std::int64_t stream) {
  if (plan_ == nullptr || values.empty() || header.form == Form::kPlain) {
    return requests_[shard].write(header, values);
  }
  bytes_.clear();
  timed(traffic_.encoding, receivers_[shard].encode_seconds(), [&] {
    if (header.form == Form::kDifference) {
      models_[shard].encode(values, epoch_, bytes_);
    } else {
      changes({header.form, stream})[shard].encode(values, epoch_, bytes_);
    }
  });
  return requests_[shard].write_bytes(header, bytes_.view());
}

void ServerClient::send(int shard, ServerHeader header, std::span<const float> values,
                        std::int64_t stream) {
  const auto at = static_cast<std::size_t>(shard);
  header.worker = transport_.rank();
  transport_.wait(sending_[at]);
  const auto own = values.empty() ? values : slice(values, map_.range(shard));
  header.epoch = epoch_;
  const auto bytes = write(at, header, own, stream);
  traffic_.sent += bytes.size();
  traffic_.plain += own.size_bytes();
  sending_[at] = transport_.isend(ranks_[at], kServerTag, bytes);
}

void ServerClient::receive(int shard, std::span<float> into) {
  const auto at = static_cast<std::size_t>(shard);
  transport_.wait(receiving_[at]);
  headers_[at] = answers_[at].read(receiving_[at].bytes());
  traffic_.received += receiving_[at].bytes();
  const Range range = map_.range(shard);
  if (headers_[at].form != Form::kPlain) {
    if (plan_ == nullptr || into.size() != map_.size()) {
      throw CommError("shard {} answered with a compressed message, which nobody asked for", shard);
    }
    return decode(at, slice(into, range));
  }
  const auto values = answers_[at].values();
  if (values.empty()) return;
  if (values.size() != range.size || into.size() != map_.size()) {
    throw CommError("shard {} answered with {} values instead of {}", shard, values.size(),
                    into.empty() ? 0 : range.size);
  }
  std::copy(values.begin(), values.end(), into.begin() + static_cast<std::ptrdiff_t>(range.begin));
}

void ServerClient::decode(std::size_t shard, std::span<float> into) {
  timed(traffic_.decoding, receivers_[shard].decode_seconds(), [&] {
    const BytesView message = answers_[shard].bytes();
    if (headers_[shard].form == Form::kDifference) {
      ModelStream::add(receivers_[shard], message, into);
    } else {
      std::ranges::fill(into, 0.0f);
      receivers_[shard].add(message, 1, into);
    }
  });
}

std::span<const ServerHeader> ServerClient::ask(ServerHeader header, std::span<const float> values,
                                                std::span<float> into, std::int64_t stream) {
  const Operation operation(transport_, "asking the server");
  transport_.step("push and pull", 0, 1);
  const double began = transport_.now();
  const int shards = map_.shards();
  for (int shard = 0; shard < shards; ++shard) {
    const auto at = static_cast<std::size_t>(shard);
    receiving_[at] = transport_.irecv(ranks_[at], kServerTag + 1, answers_[at].room());
  }
  // Starting behind oneself spreads the first messages over all shards.
  for (int k = 0; k < shards; ++k) {
    send((transport_.rank() + k) % shards, header, values, stream);
  }
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

void ServerClient::state(StateVisitor& visitor) {
  if (plan_ == nullptr) return;
  std::vector<std::int64_t> keys;  // form and number of each stream
  for (const auto& [stream, changes] : changes_) {
    keys.push_back(static_cast<std::int64_t>(stream.first));
    keys.push_back(stream.second);
  }
  visit_list(visitor, "streams", keys);
  for (std::size_t i = 0; i + 1 < keys.size(); i += 2) {
    if (keys[i] < 0 || keys[i] > static_cast<std::int64_t>(Form::kDifference)) {
      throw DataError("a checkpoint has a stream of form {}", keys[i]);
    }
    auto& changes_of_stream = changes({static_cast<Form>(keys[i]), keys[i + 1]});
    for (std::size_t shard = 0; shard < changes_of_stream.size(); ++shard) {
      StateScope scope(visitor, fmt::format("stream{}.{}", i / 2, shard));
      changes_of_stream[shard].state(scope);
    }
  }
  for (std::size_t shard = 0; shard < models_.size(); ++shard) {
    StateScope models(visitor, fmt::format("models{}", shard));
    models_[shard].state(models);
  }
}

void ServerClient::leave() {
  for (int shard = 0; shard < map_.shards(); ++shard) send(shard, {.kind = kLeave}, {});
  for (Request& request : sending_) transport_.wait(request);
}

}  // namespace lockstep
