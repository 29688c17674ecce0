#include "lockstep/server/arrivals.h"

#include <fmt/format.h>

#include <utility>

#include "lockstep/base/error.h"

namespace lockstep {

int Arrivals::next() const {
  const auto at = static_cast<std::size_t>(count_);
  return at < order_.size() ? order_[at] : kAnyRank;
}

void Arrivals::note(int from) {
  if (replays_ && from != next()) {
    throw DataError("the replay does not follow its record: message {} comes from worker {}{}",
                    count_ + 1, from,
                    next() == kAnyRank ? ", but the record has ended"
                                       : fmt::format(" instead of worker {}", next()));
  }
  noted_.push_back(from);
  ++count_;
}

std::vector<int> Arrivals::take_noted() {
  return std::exchange(noted_, {});
}

}  // namespace lockstep
