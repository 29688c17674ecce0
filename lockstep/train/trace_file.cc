#include "lockstep/train/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/train/exchange.h"

namespace lockstep {
namespace {

constexpr const char* kTracks[] = {"training", "communication"};
constexpr std::size_t kMostRanks = 1 << 20;

std::string packed(const RankTimeline& timeline) {
  const std::uint64_t head[] = {timeline.training.dropped() + timeline.lane.dropped(),
                                timeline.training.events().size()};
  std::string text(reinterpret_cast<const char*>(head), sizeof head);
  for (const TimelineTrack* track : {&timeline.training, &timeline.lane}) {
    const auto bytes = std::as_bytes(std::span(track->events()));
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return text;
}

GatheredTimeline unpacked(const std::string& text) {
  std::uint64_t head[2];
  if (text.size() < sizeof head || (text.size() - sizeof head) % sizeof(TimelineEvent) != 0) {
    throw CommError("a rank sent a timeline of {} bytes", text.size());
  }
  std::memcpy(head, text.data(), sizeof head);
  std::vector<TimelineEvent> events((text.size() - sizeof head) / sizeof(TimelineEvent));
  if (!events.empty()) {
    std::memcpy(events.data(), text.data() + sizeof head, text.size() - sizeof head);
  }
  if (head[1] > events.size()) throw CommError("a rank sent a timeline with {} events", head[1]);
  const auto middle = events.begin() + static_cast<std::ptrdiff_t>(head[1]);
  return {{events.begin(), middle}, {middle, events.end()}, head[0]};
}

std::string event_name(const TimelineEvent& event, const std::vector<std::string>& buckets) {
  const bool passes = event.activity == Activity::kForward || event.activity == Activity::kBackward;
  if (passes && event.part > 0)
    return fmt::format("{} {}", name_of(event.activity), event.part - 1);
  const bool of_bucket = event.activity == Activity::kBucket || event.activity == Activity::kWait;
  if (!of_bucket || event.part >= buckets.size()) return name_of(event.activity);
  return fmt::format("{} {}: {}", name_of(event.activity), event.part + 1, buckets[event.part]);
}

// Names come from modules of users, and may be any bytes.
std::string quoted(const std::string& name) {
  return Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append(std::string& text, const std::vector<TimelineEvent>& events, std::size_t rank,
            int track, const TraceAbout& about, double origin) {
  for (const TimelineEvent& event : events) {
    text += fmt::format(
        ",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"name\":{},\"args\":"
        "{{\"step\":{}{}}}}}",
        rank, track, 1e6 * (event.begin - origin), 1e6 * (event.end - event.begin),
        quoted(event_name(event, about.buckets[rank % about.buckets.size()])), event.step + 1,
        event.bytes > 0 ? fmt::format(",\"bytes\":{}", event.bytes) : "");
  }
}

}  // namespace

std::vector<GatheredTimeline> gather_timelines(Group& group, const RankTimeline& mine) {
  std::vector<GatheredTimeline> all;
  for (const std::string& text : gather_texts(group, packed(mine), 0)) {
    all.push_back(unpacked(text));
  }
  return all;
}

void write_trace(const std::string& path, const std::vector<GatheredTimeline>& timelines,
                 const TraceAbout& about) {
  std::uint64_t dropped = 0;
  double origin = std::numeric_limits<double>::infinity();
  for (const GatheredTimeline& one : timelines) {
    dropped += one.dropped;
    for (const auto* track : {&one.training, &one.lane}) {
      for (const TimelineEvent& event : *track) origin = std::min(origin, event.begin);
    }
  }
  std::string text = fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"dropped_events\":{}}},\"traceEvents\":[\n",
      dropped);
  const char* between = "";
  for (std::size_t rank = 0; rank < timelines.size(); ++rank) {
    text += fmt::format(
        "{}{{\"ph\":\"M\",\"pid\":{},\"name\":\"process_name\",\"args\":{{\"name\":\"worker{} "
        "{}\"}}}}",
        between, rank, about.placement.merge > 1 ? "s" : "",
        about.placement.name_of(static_cast<int>(rank)));
    between = ",\n";
    const std::vector<TimelineEvent>* const tracks[] = {&timelines[rank].training,
                                                        &timelines[rank].lane};
    for (int track = 0; track < 2; ++track) {
      if (tracks[track]->empty()) continue;
      text += fmt::format(
          ",\n{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":\"{"
          "}"
          "\"}}}}",
          rank, track, kTracks[track]);
      append(text, *tracks[track], rank, track, about, origin);
    }
  }
  write_file(path, text + "\n]}\n");
}

std::vector<TracedEvent> read_trace(const std::string& path) {
  std::vector<TracedEvent> events;
  try {
    const Json trace = read_json(path);
    for (const Json& item : trace.at("traceEvents")) {
      if (item.at("ph") != "X") continue;
      const Json& args = item.at("args");
      for (const Json* number : {&item.at("pid"), &item.at("tid"), &args.at("step")}) {
        if (!number->is_number_integer()) throw DataError("{} is not a timeline", path);
      }
      const std::int64_t rank = item.at("pid"), track = item.at("tid");
      const double begin = item.at("ts"), seconds = item.at("dur");
      if (rank < 0 || rank > static_cast<std::int64_t>(kMostRanks) || !std::isfinite(begin) ||
          !std::isfinite(seconds)) {
        throw DataError("{} is not a timeline: it has an event of rank {} at {}", path, rank,
                        begin);
      }
      events.push_back({static_cast<int>(rank), track == 1, item.at("name"), begin / 1e6,
                        seconds / 1e6, args.at("step")});
    }
  } catch (const Json::exception& error) {
    throw DataError("{} is not a timeline: {}", path, error.what());
  }
  return events;
}

}  // namespace lockstep
