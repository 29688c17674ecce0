// A worker's means of talking to the others: averages over a group, with an account of what they
// cost it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "lockstep/base/timeline.h"
#include "lockstep/sync/averaging.h"

namespace lockstep {

// What communication has cost one worker so far.
struct Traffic {
  std::uint64_t sent = 0, received = 0;  // bytes
  std::uint64_t rounds = 0;              // of messages, one after the other
  double waiting = 0;                    // seconds for others that were not there yet
  double communicating = 0;              // seconds of the rest, on the wire
  std::uint64_t plain = 0;               // bytes that would have been sent without compression
  double encoding = 0, decoding = 0;     // seconds
  double beside = 0;                     // seconds of the two that a companion took
  double hidden = 0;  // seconds that a companion averaged while the worker went on

  Traffic& operator+=(const Traffic& other);
};

class Communicator {
 public:
  Communicator(Group& group, Averaging& averaging) : group_(group), averaging_(averaging) {
    durations_.reserve(1024);  // about what is averaged between two settlements
  }

  // Collective. The mean over the members, the same bits on all of them. What is said about the
  // content lets it be compressed.
  // Calls on_part for every part of the vector that has its average.
  void average(std::span<float> values, Content content = Content::kOther,
               const OnPart& on_part = {});
  // All members hold this model now, without having averaged it: what differences count from.
  void know(std::span<const float> model) { averaging_.know(group_, model); }
  // The same account for an average that is made by `action`, over vectors of n floats, if it
  // returns the seconds that it did something else.
  void record(std::size_t n, FunctionView<double()> action);
  // The communicator of some of the members, by their indices here; made once and kept.
  Communicator& part(const std::vector<int>& members);

  Group& group() { return group_; }
  int size() const { return group_.size(); }
  int index() const { return group_.index(); }

  // Notes what it does, and what is done with it, there.
  void note_on(TimelineTrack* track) { track_ = track; }
  // The optimizer at work between two moments.
  void note_update(double begin, double end) {
    if (track_ != nullptr) track_->add(Activity::kUpdate, begin, end);
  }

  // What strategies that send messages of their own add to the account.
  Traffic& account() { return traffic_; }
  // With all parts.
  Traffic traffic() const;
  // Seconds that exchanging has held this worker up so far, with all parts, settled or not.
  double exchanging() const;
  // Collective over all members, also of the parts. Tells waiting from communicating: whoever comes
  // last to an average does not wait, so what it takes him is what communication takes.
  void settle();

 private:
  void settle_own();
  void count(const AverageCost& cost);

  Group& group_;
  Averaging& averaging_;
  TimelineTrack* track_ = nullptr;
  Traffic traffic_;
  std::vector<double> durations_;  // of averages not settled yet
  double unsettled_ = 0;           // their sum
  std::map<std::vector<int>, std::unique_ptr<Communicator>> parts_;
};

}  // namespace lockstep
