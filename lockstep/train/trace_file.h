// A run's timeline as a file that chrome://tracing and Perfetto open: a process for each worker
// rank, with a thread for training and one for its communication lane.
#pragma once

#include <string>
#include <vector>

#include "lockstep/base/timeline.h"
#include "lockstep/collective/group.h"
#include "lockstep/train/placement.h"

namespace lockstep {

struct GatheredTimeline {
  std::vector<TimelineEvent> training, lane;
  std::uint64_t dropped = 0;  // events for which there was no room
};

// Collective. Of every member, at the first; elsewhere nothing.
std::vector<GatheredTimeline> gather_timelines(Group& group, const RankTimeline& mine);

struct TraceAbout {
  Placement placement;
  std::vector<std::vector<std::string>> buckets{{}};  // names, of each rank, or of all
};
// Times count from the earliest event: readers drop what was before the beginning.
void write_trace(const std::string& path, const std::vector<GatheredTimeline>& timelines,
                 const TraceAbout& about);

// An event as the file has it.
struct TracedEvent {
  int rank = 0;
  bool lane = false;
  std::string name;
  double begin = 0, seconds = 0;
  std::int64_t step = 0;  // counts from 1
};
// A DataError if it is no trace.
std::vector<TracedEvent> read_trace(const std::string& path);

}  // namespace lockstep
