#include "lockstep/sync/work_list.h"

#include <algorithm>

namespace lockstep {

WorkList::WorkList(int workers, std::int64_t bound, bool help)
    : bound_(bound),
      help_(help),
      next_(static_cast<std::size_t>(workers)),
      asking_(static_cast<std::size_t>(workers)) {
  start(0);
}

void WorkList::start(std::int64_t clock) {
  std::ranges::fill(next_, clock + 1);
}

void WorkList::ask(int worker, std::int64_t limit) {
  asking_[static_cast<std::size_t>(worker)] = 1;
  if (!closed_) limit_ = limit;
}

void WorkList::close() {
  closed_ = true;
  limit_ = *std::ranges::max_element(next_);
}

std::vector<WorkList::Given> WorkList::give(std::int64_t complete) {
  std::vector<Given> given;
  const auto hand = [&](std::size_t worker, std::optional<Item> item) {
    asking_[worker] = 0;
    if (item) ++next_[static_cast<std::size_t>(item->owner)];
    given.push_back({static_cast<int>(worker), item});
  };
  for (std::size_t i = 0; i < asking_.size(); ++i) {
    if (asking_[i] != 0 && may_begin(next_[i], complete)) {
      hand(i, Item{next_[i], static_cast<int>(i)});
    }
  }
  for (std::size_t i = 0; i < asking_.size(); ++i) {
    if (asking_[i] == 0) continue;
    if (const auto item = help_ ? furthest_behind(complete) : std::nullopt) {
      hand(i, item);
    } else if (nothing_left(static_cast<int>(i))) {
      hand(i, std::nullopt);
    }
  }
  // When everything before the meeting is complete, all begin again with their own.
  if (complete == limit_ && complete > 0) start(complete);
  return given;
}

bool WorkList::may_begin(std::int64_t clock, std::int64_t complete) const {
  return clock < limit_ && clock <= complete + bound_;
}

std::optional<WorkList::Item> WorkList::furthest_behind(std::int64_t complete) const {
  const auto behind = std::ranges::min_element(next_);
  if (!may_begin(*behind, complete)) return {};
  return Item{*behind, static_cast<int>(behind - next_.begin())};
}

bool WorkList::nothing_left(int worker) const {
  if (!help_) return next_[static_cast<std::size_t>(worker)] >= limit_;
  return *std::ranges::min_element(next_) >= limit_;
}

}  // namespace lockstep
