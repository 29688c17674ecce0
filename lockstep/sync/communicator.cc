#include "lockstep/sync/communicator.h"

#include <algorithm>
#include <cstring>

#include "lockstep/collective/collectives.h"

namespace lockstep {

Traffic& Traffic::operator+=(const Traffic& other) {
  sent += other.sent;
  received += other.received;
  rounds += other.rounds;
  waiting += other.waiting;
  communicating += other.communicating;
  plain += other.plain;
  encoding += other.encoding;
  decoding += other.decoding;
  beside += other.beside;
  hidden += other.hidden;
  return *this;
}

void Communicator::average(std::span<float> values, Content content, const OnPart& on_part) {
  const double began = group_.transport().now();
  const AverageCost cost = averaging_.average(group_, values, content, on_part);
  count(cost);
  // What a companion does is noted bucket by bucket.
  if (track_ != nullptr && !cost.beside) {
    track_->add(Activity::kAverage, began, began + cost.blocked, cost.sent);
  }
}

void Communicator::record(std::size_t n, FunctionView<double()> action) {
  const double began = group_.transport().now();
  const double working = action();
  const double ended = group_.transport().now();
  AverageCost cost = averaging_.cost(group_, n);
  cost.blocked = ended - began - working;
  count(cost);
  if (track_ == nullptr) return;
  track_->add(Activity::kAverage, began, began + cost.blocked, cost.sent);
  track_->add(Activity::kUpdate, began + cost.blocked, ended);
}

void Communicator::count(const AverageCost& cost) {
  const double coding = cost.encoding + cost.decoding;
  durations_.push_back(cost.blocked - (cost.beside ? 0 : coding));
  unsettled_ += durations_.back();
  traffic_.beside += cost.beside ? coding : 0;
  traffic_.sent += cost.sent;
  traffic_.received += cost.received;
  traffic_.rounds += cost.rounds;
  traffic_.plain += cost.plain;
  traffic_.encoding += cost.encoding;
  traffic_.decoding += cost.decoding;
  traffic_.hidden += cost.hidden;
}

Communicator& Communicator::part(const std::vector<int>& members) {
  auto& part = parts_[members];
  if (!part) part = std::make_unique<Communicator>(group_.part(members), averaging_);
  part->track_ = track_;
  return *part;
}

Traffic Communicator::traffic() const {
  Traffic all = traffic_;
  for (const auto& [members, part] : parts_) all += part->traffic();
  return all;
}

double Communicator::exchanging() const {
  double seconds = unsettled_ + traffic_.waiting + traffic_.communicating + traffic_.encoding +
                   traffic_.decoding - traffic_.beside;
  for (const auto& [members, part] : parts_) seconds += part->exchanging();
  return seconds;
}

void Communicator::settle() {
  settle_own();
  // Members of one part have the same parts; the order of the keys is the same on all of them.
  for (auto& [members, part] : parts_) part->settle();
}

void Communicator::settle_own() {
  if (durations_.empty()) return;
  const auto all = all_gather_bytes(group_, std::as_bytes(std::span(durations_)));
  std::vector<double> theirs(durations_.size());
  std::vector<double> least = durations_;
  for (const auto& bytes : all) {
    if (bytes.size() != theirs.size() * sizeof(double)) {
      throw CommError("a rank has averaged {} times and another one {} times",
                      bytes.size() / sizeof(double), theirs.size());
    }
    std::memcpy(theirs.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], theirs[i]);
  }
  for (std::size_t i = 0; i < least.size(); ++i) {
    traffic_.communicating += least[i];
    traffic_.waiting += durations_[i] - least[i];
  }
  durations_.clear();
  unsettled_ = 0;
}

}  // namespace lockstep
