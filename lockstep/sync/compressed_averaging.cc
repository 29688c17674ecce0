#include "lockstep/sync/compressed_averaging.h"

#include <fmt/format.h>

#include <algorithm>

#include "lockstep/base/error.h"
#include "lockstep/sync/combining.h"

namespace lockstep {
namespace {

constexpr std::int64_t kMostMeans = 64;  // of groups within groups

Feedback feedback_of(Content content) {
  if (content == Content::kChange) return Feedback::kWorker;
  return content == Content::kModel ? Feedback::kPlanned : Feedback::kNone;
}

}  // namespace

CompressedAveraging::CompressedAveraging(const CompressionPlan& plan, const AllReduce& all_reduce,
                                         std::span<const Layer> layers,
                                         std::span<const float> model, std::vector<int> ranks,
                                         std::uint64_t seed, int rank)
    : plan_(plan),
      all_reduce_(all_reduce),
      plain_(all_reduce),
      layers_(layers.begin(), layers.end()),
      seed_(seed),
      rank_(rank),
      workers_(static_cast<int>(ranks.size())),
      agreed_(std::move(ranks), model) {
  plan.check_rules(layers);
}

AverageCost CompressedAveraging::run(Group& group, std::span<float> values, Content content) {
  if (group.size() == 1) return {};
  if (content == Content::kOther) return plain_.average(group, values, content, {});
  LOCKSTEP_CHECK(layers_.back().offset + layers_.back().size == values.size(),
                 "{} values of a model", values.size());
  if (content != Content::kChange) return average_model(group, values, content);
  return mean_of(group.ranks(), content).run(group, all_reduce_, values, epoch_);
}

CompressedMean& CompressedAveraging::mean_of(const Ranks& members, Content content) {
  const auto found = means_.find(std::pair<Content, const Ranks&>(content, members));
  if (found != means_.end()) return found->second;
  const auto me = std::ranges::find(members, rank_) - members.begin();
  const auto size = static_cast<int>(members.size());
  return means_
      .emplace(std::pair(content, members),
               CompressedMean(plan_, layers_, seed_, stream_of(rank_, members, content),
                              feedback_of(content), static_cast<int>(me), size))
      .first->second;
}

AverageCost CompressedAveraging::average_model(Group& group, std::span<float> values,
                                               Content content) {
  agreed_.take_off(group.ranks(), values);
  const AverageCost cost = mean_of(group.ranks(), content).run(group, all_reduce_, values, epoch_);
  agreed_.add_and_agree(group.ranks(), values);
  return cost;
}

std::string CompressedAveraging::findings() const {
  return "messages    " + describe_combining(plan_, layers_, workers_);
}

void CompressedAveraging::state(StateVisitor& visitor) {
  auto count = static_cast<std::int64_t>(means_.size());
  visitor.integer("means", count);
  std::vector<std::pair<Content, Ranks>> keys;
  for (const auto& [key, mean] : means_) keys.push_back(key);
  if (count < 0 || count > kMostMeans) throw DataError("a checkpoint has {} means", count);
  keys.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    StateScope scope(visitor, fmt::format("mean{}", i));
    auto content = static_cast<std::int64_t>(keys[i].first);
    scope.integer("content", content);
    visit_list(scope, "members", keys[i].second);
    const bool known = content >= static_cast<std::int64_t>(Content::kChange) &&
                       content < static_cast<std::int64_t>(Content::kOther);
    if (!known || std::ranges::find(keys[i].second, rank_) == keys[i].second.end()) {
      throw DataError("a checkpoint has a compressed mean that rank {} has no part in", rank_);
    }
    mean_of(keys[i].second, static_cast<Content>(content)).state(scope);
  }
  agreed_.state(visitor);
}

}  // namespace lockstep
