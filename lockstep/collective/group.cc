#include "lockstep/collective/group.h"

#include <algorithm>
#include <numeric>

#include "lockstep/base/error.h"
#include "lockstep/base/half.h"

namespace lockstep {
namespace {

std::vector<int> everybody(int size) {
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

void Outgoing::wait() {
  if (group_ == nullptr) return;  // nothing was sent
  for (auto& request : requests_) group_->transport_.wait(request);
  requests_.clear();
  std::ranges::move(narrowed_, std::back_inserter(group_->spare_));
  narrowed_.clear();
}

void Outgoing::join(Outgoing&& other) {
  if (group_ == nullptr) group_ = other.group_;
  std::move(other.requests_.begin(), other.requests_.end(), std::back_inserter(requests_));
  std::move(other.narrowed_.begin(), other.narrowed_.end(), std::back_inserter(narrowed_));
  other.requests_.clear();
  other.narrowed_.clear();
}

Group::Group(Transport& transport, Tag tag) : Group(transport, everybody(transport.size()), tag) {}

Group::Group(Transport& transport, std::vector<int> ranks, Tag tag)
    : transport_(transport), ranks_(std::move(ranks)), tag_(tag) {
  std::vector<int> sorted = ranks_;
  std::sort(sorted.begin(), sorted.end());
  LOCKSTEP_CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
                 "a rank is in the group twice");
  LOCKSTEP_CHECK(!sorted.empty() && sorted.front() >= 0 && sorted.back() < transport.size(),
                 "a group of ranks that do not exist");
  const auto me = std::find(ranks_.begin(), ranks_.end(), transport.rank());
  LOCKSTEP_CHECK(me != ranks_.end(), "rank {} is not in its group", transport.rank());
  index_ = static_cast<int>(me - ranks_.begin());
}

std::size_t Group::piece() const {
  return std::max<std::size_t>(1, transport_.piece_bytes() / sizeof(float));
}

Group& Group::part(std::span<const int> members) {
  auto found = parts_.find(members);
  if (found == parts_.end()) {
    std::vector<int> ranks;
    for (const int member : members) ranks.push_back(rank(member));
    auto made = std::make_unique<Group>(transport_, std::move(ranks), tag_);
    found = parts_.emplace(std::vector(members.begin(), members.end()), std::move(made)).first;
  }
  Group& part = *found->second;
  part.observer_ = observer_;
  part.number_ = number_;
  return part;
}

SharedSpace* Group::shared() {
  if (number_ != Number::kFloat) return nullptr;
  if (!asked_for_space_) {
    asked_for_space_ = true;
    space_ = transport_.shared_space(ranks_);
  }
  return space_.get();
}

std::span<float> Group::scratch(std::size_t floats) {
  if (scratch_.size() < floats) scratch_.resize(floats);
  return std::span(scratch_).first(floats);
}

void Group::step(const char* phase, int index, int count) {
  transport_.step(phase, index, count);
  if (observer_ != nullptr) observer_->on_step(phase, index, count);
}

Outgoing Group::send(int to, std::span<const float> data) {
  if (observer_ != nullptr && !data.empty()) observer_->on_send(rank(to), data);
  if (number_ != Number::kFloat) return send_narrowed(to, data);
  return send_bytes(to, std::as_bytes(data));
}

Outgoing Group::send_bytes(int to, std::span<const std::byte> data) {
  Outgoing outgoing;
  outgoing.group_ = this;
  const std::size_t most = piece() * sizeof(float);
  for (std::size_t at = 0; at < data.size(); at += most) {
    const auto part = data.subspan(at, std::min(most, data.size() - at));
    outgoing.requests_.push_back(transport_.isend(rank(to), tag_, part));
  }
  return outgoing;
}

Outgoing Group::send_narrowed(int to, std::span<const float> data) {
  Outgoing outgoing;
  outgoing.group_ = this;
  auto& narrowed = outgoing.narrowed_.emplace_back();
  if (!spare_.empty()) {
    narrowed.swap(spare_.back());
    spare_.pop_back();
  }
  narrowed.resize(data.size());
  for (std::size_t at = 0; at < data.size(); at += piece()) {
    const std::size_t n = std::min(piece(), data.size() - at);
    narrow(number_, data.data() + at, n, narrowed.data() + at);
    outgoing.requests_.push_back(transport_.isend(
        rank(to), tag_, std::as_bytes(std::span<const std::uint16_t>(narrowed).subspan(at, n))));
  }
  return outgoing;
}

void Group::receive_narrowed(int from, std::size_t n,
                             FunctionView<void(std::size_t, std::span<const float>)> take) {
  narrow_arrivals_.resize(std::max(narrow_arrivals_.size(), n));
  arrivals_.resize(std::max(arrivals_.size(), std::min(piece(), n)));
  const auto wide = std::span(arrivals_).first(std::min(piece(), n));
  const auto narrowed = std::span(narrow_arrivals_).first(n);
  Requests requests;
  for (std::size_t at = 0; at < n; at += piece()) {
    const auto part = narrowed.subspan(at, std::min(piece(), n - at));
    requests.push_back(transport_.irecv(rank(from), tag_, std::as_writable_bytes(part)));
  }
  for (std::size_t at = 0, i = 0; at < n; at += piece(), ++i) {
    const std::size_t count = std::min(piece(), n - at);
    finish_receive(requests[i], from, count * sizeof(std::uint16_t));
    widen(number_, narrowed.data() + at, count, wide.data());
    take(at, wide.first(count));
  }
}

void Group::receive(int from, std::span<float> into) {
  if (number_ == Number::kFloat) {
    receive_bytes(from, std::as_writable_bytes(into));
  } else {
    receive_narrowed(from, into.size(), [&](std::size_t at, std::span<const float> values) {
      std::ranges::copy(values, into.begin() + static_cast<std::ptrdiff_t>(at));
    });
  }
  if (observer_ != nullptr && !into.empty()) observer_->on_receive(rank(from), into);
}

void Group::receive_bytes(int from, std::span<std::byte> into) {
  const std::size_t most = piece() * sizeof(float);
  Requests requests;
  for (std::size_t at = 0; at < into.size(); at += most) {
    const auto part = into.subspan(at, std::min(most, into.size() - at));
    requests.push_back(transport_.irecv(rank(from), tag_, part));
  }
  std::size_t left = into.size();
  for (auto& request : requests) {
    const std::size_t expected = std::min(most, left);
    finish_receive(request, from, expected);
    left -= expected;
  }
}

void Group::finish_receive(Request& request, int from, std::size_t expected) {
  transport_.wait(request);
  if (request.bytes() == expected) return;
  throw CommError(
      "rank {} expected {} bytes from rank {} and got {}: the ranks are not in the same operation, "
      "or disagree about its size",
      transport_.rank(), expected, rank(from), request.bytes());
}

void Group::combine_from(int from, std::span<float> into, ReduceOp op) {
  if (number_ == Number::kFloat) {
    transport_.read(rank(from), tag_, into.size_bytes(), piece() * sizeof(float),
                    [&](std::size_t offset, std::span<const std::byte> data) {
                      const std::size_t n = data.size() / sizeof(float);
                      combine(op, into.subspan(offset / sizeof(float), n),
                              {reinterpret_cast<const float*>(data.data()), n});
                    });
  } else {
    receive_narrowed(from, into.size(), [&](std::size_t at, std::span<const float> values) {
      combine(op, into.subspan(at, values.size()), values);
    });
  }
  if (observer_ != nullptr && !into.empty()) observer_->on_combine(rank(from), into, op);
}

void Group::combine_in_order(std::span<float> sum, std::span<const float> mine, ReduceOp op) {
  const auto m = static_cast<std::size_t>(size()), me = static_cast<std::size_t>(index_);
  const std::size_t most = std::min(piece(), sum.size());
  const std::size_t width = size_of(number_);
  arrivals_.resize(std::max(arrivals_.size(), most * m));
  const auto arrivals = std::span(arrivals_);
  if (number_ != Number::kFloat) {
    narrow_arrivals_.resize(std::max(narrow_arrivals_.size(), most * m));
  }
  const auto narrowed = std::span(narrow_arrivals_);
  Requests requests(m);
  for (std::size_t at = 0; at < sum.size(); at += most) {
    const std::size_t n = std::min(most, sum.size() - at);
    const auto part = sum.subspan(at, n);
    const auto arrival = [&](std::size_t i) { return arrivals.subspan(i * most, n); };
    for (std::size_t i = 0; i < m; ++i) {
      if (i == me) continue;
      const auto room = number_ == Number::kFloat
                            ? std::as_writable_bytes(arrival(i))
                            : std::as_writable_bytes(narrowed.subspan(i * most, n));
      requests[i] = transport_.irecv(ranks_[i], tag_, room);
    }
    for (std::size_t i = 0; i < m; ++i) {
      if (i != me) finish_receive(requests[i], static_cast<int>(i), n * width);
      if (number_ != Number::kFloat) {
        // Members that all add for themselves must add the same: one's own as others get it.
        std::uint16_t* const numbers = narrowed.data() + i * most;
        if (i == me) narrow(number_, mine.data() + at, n, numbers);
        widen(number_, numbers, n, arrival(i).data());
      }
      const bool as_it_is = i == me && number_ == Number::kFloat;
      const std::span<const float> theirs = as_it_is ? mine.subspan(at, n) : arrival(i);
      if (i == 0)
        std::copy(theirs.begin(), theirs.end(), part.begin());
      else
        combine(op, part, theirs);
    }
  }
  if (observer_ == nullptr || sum.empty()) return;
  for (std::size_t i = 0; i < m; ++i) {
    if (i != me) observer_->on_combine(ranks_[i], sum, op);
  }
}

}  // namespace lockstep
