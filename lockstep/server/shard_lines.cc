#include "lockstep/server/shard_lines.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

// Streams of random numbers: those of workers are below (sync/compressed_mean.cc).
std::uint64_t stream(int shard, int kind, std::uint64_t whom) {
  return (std::uint64_t{1} << 62) + (static_cast<std::uint64_t>(shard) << 42) +
         (static_cast<std::uint64_t>(kind) << 40) + whom;
}
enum Kind : int { kFrom, kTo, kCommon };

}  // namespace

ShardLines::ShardLines(std::size_t size, int workers, const ShardCompression* compression)
    : size_(size), workers_(workers) {
  if (compression == nullptr) return;
  plan_ = &compression->plan;
  layers_ = compression->layers;
  start_.assign(compression->params.begin(), compression->params.end());
  seed_ = compression->seed;
  shard_ = compression->shard;
  changes_ = std::make_unique<Compression>(*plan_, layers_, seed_, 0, Feedback::kNone);
}

// Groups that average at a server are known by their first member and their size (mean_rule.h).
Compression& ShardLines::common_change(const Receivers& receivers) {
  const auto found = common_changes_.find(receivers);
  if (found != common_changes_.end()) return found->second;
  const auto& [form, workers] = receivers;
  const auto whom = (static_cast<std::uint64_t>(form) << 37) +
                    (static_cast<std::uint64_t>(workers.front()) << 18) + workers.size();
  const Feedback feedback = form == Form::kOwnModel ? Feedback::kNone : Feedback::kPlanned;
  return common_changes_
      .emplace(receivers,
               Compression(*plan_, layers_, seed_, stream(shard_, kCommon, whom), feedback))
      .first->second;
}

ModelStream& ShardLines::stream_of(std::map<int, ModelStream>& streams, int worker, int kind) {
  const auto found = streams.find(worker);
  if (found != streams.end()) return found->second;
  return streams
      .emplace(worker, ModelStream(*plan_, layers_, start_, seed_,
                                   stream(shard_, kind, static_cast<std::uint64_t>(worker))))
      .first->second;
}

std::span<const float> ShardLines::values_of(const ServerHeader& header,
                                             const ServerMessage& message) {
  if (header.form == Form::kPlain) return message.values();
  if (!compressed()) {
    throw CommError("worker {} sent a compressed message, which nobody asked for", header.worker);
  }
  if (header.form == Form::kDifference) {
    ModelStream& model = stream_of(from_, header.worker, kFrom);
    model.take(message.bytes());
    return model.known();
  }
  decoded_.assign(size_, 0.0f);
  changes_->add(message.bytes(), 1, decoded_);
  return decoded_;
}

std::span<const std::byte> ShardLines::write(ServerMessage& line, ServerHeader header,
                                             std::span<const float> values) {
  if (!compressed() || values.empty()) return line.write(header, values);
  ModelStream& model = stream_of(to_, header.worker, kTo);
  if (header.form != Form::kDifference) {
    model.know(values);
    return line.write(header, values);
  }
  bytes_.clear();
  model.encode(values, header.epoch, bytes_);
  return line.write_bytes(header, bytes_.view());
}

std::optional<BytesView> ShardLines::change_for(const std::vector<int>& workers,
                                                const ServerHeader& header,
                                                std::span<const float> values) {
  if (!compressed() || workers.size() < 2 || header.form == Form::kPlain) return {};
  bytes_.clear();
  common_change({header.form, workers}).encode(values, header.epoch, bytes_);
  return bytes_.view();
}

void ShardLines::state(StateVisitor& visitor) {
  if (!compressed()) return;
  for (auto* streams : {&from_, &to_}) {
    const bool from = streams == &from_;
    // Which of them there are depends on the strategy alone, once each worker has been heard.
    auto count = static_cast<std::int64_t>(streams->size());
    visitor.integer(from ? "from" : "to", count);
    if (count < 0 || count > workers_) throw DataError("a checkpoint has {} lines", count);
    std::vector<std::int64_t> workers;
    for (const auto& [worker, model] : *streams) workers.push_back(worker);
    workers.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < workers.size(); ++i) {
      StateScope scope(visitor, fmt::format("{}{}", from ? "from" : "to", i));
      scope.integer("worker", workers[i]);
      if (workers[i] < 0 || workers[i] >= workers_) {
        throw DataError("a checkpoint has a line to worker {}", workers[i]);
      }
      stream_of(*streams, static_cast<int>(workers[i]), from ? kFrom : kTo).state(scope);
    }
  }
  auto groups = static_cast<std::int64_t>(common_changes_.size());
  visitor.integer("groups", groups);
  if (groups < 0 || groups > 3 * (workers_ + 2))
    throw DataError("a checkpoint has {} groups", groups);
  std::vector<Receivers> all;
  for (const auto& [receivers, changes] : common_changes_) all.push_back(receivers);
  all.resize(static_cast<std::size_t>(groups));
  for (std::size_t i = 0; i < all.size(); ++i) {
    StateScope scope(visitor, fmt::format("group{}", i));
    auto form = static_cast<std::int64_t>(all[i].first);
    scope.integer("form", form);
    visit_list(scope, "members", all[i].second);
    if (all[i].second.empty() || form < 0 || form > static_cast<std::int64_t>(Form::kDifference)) {
      throw DataError("a checkpoint has a group of {} with form {}", all[i].second.size(), form);
    }
    all[i].first = static_cast<Form>(form);
    common_change(all[i]).state(scope);
  }
}

}  // namespace lockstep
