// What one thread of a rank did when: a bounded record of spans of time, which costs a few
// nanoseconds each. A track belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

enum class Activity : std::uint32_t {
  kLoad,      // waiting for the batch
  kForward,   // of a whole batch, or with `part` > 0 of that micro-batch
  kBackward,  // the same
  kAverage,   // the whole of an average
  kWait,      // for a bucket that the lane averages
  kUpdate,    // of parameters, by the optimizer
  kBucket,    // an average on the lane; `part` says which
  kValidate,
  kSave,
  kIdle,  // waiting for another stage of the same model
};
inline constexpr int kActivities = 10;
const char* name_of(Activity activity);

struct TimelineEvent {
  double begin = 0, end = 0;  // seconds on the transport's clock
  std::int64_t step = 0;      // counts from 0
  std::uint64_t bytes = 0;    // sent
  Activity activity = Activity::kLoad;
  std::uint32_t part = 0;
};

class TimelineTrack {
 public:
  explicit TimelineTrack(std::size_t most) : most_(most) { events_.reserve(most); }

  void at_step(std::int64_t step) { step_ = step; }
  void add(Activity activity, double begin, double end, std::uint64_t bytes = 0,
           std::uint32_t part = 0) {
    if (events_.size() < most_) {
      events_.push_back({begin, end, step_, bytes, activity, part});
    } else {
      ++dropped_;
    }
  }

  const std::vector<TimelineEvent>& events() const { return events_; }
  std::uint64_t dropped() const { return dropped_; }  // for which there was no room

 private:
  std::size_t most_;
  std::vector<TimelineEvent> events_;
  std::int64_t step_ = 0;
  std::uint64_t dropped_ = 0;
};

// A worker rank's tracks: its own, and that of its communication lane.
struct RankTimeline {
  explicit RankTimeline(std::size_t most) : training(most), lane(most) {}
  void at_step(std::int64_t step) {
    training.at_step(step);
    lane.at_step(step);
  }
  TimelineTrack training, lane;
};

}  // namespace lockstep
