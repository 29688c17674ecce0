#include "lockstep/train/trace_file.h"

#include <gmock/gmock.h>

#include <fstream>

#include "lockstep/base/error.h"
#include "lockstep/base/json_lines.h"
#include "lockstep/train/timeline_summary.h"
#include "tests/train/run_folder.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class TraceFile : public FolderTest {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  RunPaths run() const { return {path("")}; }
};

Placement two_workers() {
  Placement placement;
  placement.workers = 2;
  return placement;
}

TEST(TimelineTrack, KeepsWhatThereIsRoomFor) {
  TimelineTrack track(2);
  for (int step = 0; step < 5; ++step) {
    track.at_step(step);
    track.add(Activity::kForward, step, step + 1);
  }
  ASSERT_EQ(track.events().size(), 2u);
  EXPECT_EQ(track.events()[1].step, 1);
  EXPECT_EQ(track.dropped(), 3u);
}

TEST_F(TraceFile, HasWhatEveryRankDid) {
  const auto world = world_with_room_for(2);
  world->run(2, [&](Transport& transport) {
    Group group(transport);
    RankTimeline mine(10);
    const double rank = transport.rank();
    mine.at_step(7);
    mine.training.add(Activity::kForward, 10 + rank, 10.5 + rank);
    mine.lane.add(Activity::kBucket, 11, 12, 4096, 1);
    const auto all = gather_timelines(group, mine);
    if (transport.rank() != 0) return;
    ASSERT_EQ(all.size(), 2u);
    write_trace(path("t.json"), all,
                {two_workers(), {std::vector<std::string>{"head", "a \"quoted\" name\xff"}}});
    const auto events = read_trace(path("t.json"));
    ASSERT_EQ(events.size(), 4u);
    EXPECT_EQ(events[2].rank, 1);
    EXPECT_EQ(events[2].name, "forward");
    EXPECT_NEAR(events[2].begin, 1, 1e-9);
    EXPECT_NEAR(events[2].seconds, 0.5, 1e-9);
    EXPECT_EQ(events[2].step, 8);
    EXPECT_TRUE(events[3].lane);
    EXPECT_EQ(events[3].name, "bucket 2: a \"quoted\" name\xef\xbf\xbd");
    const Json file = read_json(path("t.json"));
    EXPECT_EQ(file.at("traceEvents").back().at("args").at("bytes"), 4096);
    EXPECT_EQ(file.at("traceEvents").at(0).at("args").at("name"), "worker 0");
  });
}

TEST_F(TraceFile, OfAnythingElseIsRefused) {
  for (const char* text :
       {"", "[]", "{}", "{\"traceEvents\":[{\"ph\":\"X\"}]}", "{\"traceEvents\":[7]}",
        "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1e300,\"tid\":0,\"ts\":0,\"dur\":0,\"name\":\"x\","
        "\"args\":{\"step\":1}}]}",
        "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":-1,\"tid\":0,\"ts\":0,\"dur\":0,\"name\":\"x\","
        "\"args\":{\"step\":1}}]}"}) {
    write("bad.json", text);
    EXPECT_THROW(read_trace(path("bad.json")), DataError) << text;
  }
}

TEST_F(TraceFile, IsSummedUpInWords) {
  EXPECT_THAT([&] { timeline_summary(run()); },
              ThrowsMessage<ConfigError>(HasSubstr("not finished")));
  const std::string worker =
      "\"steps\":10,\"loading\":1,\"forward\":2,\"updating\":1,\"encoding\":0,\"decoding\":0,"
      "\"coding_beside\":0";
  write("summary.json", "{\"workers\":2,\"steps\":10,\"seconds\":12,\"by_worker\":[{" + worker +
                            ",\"computing\":6,\"waiting\":1,\"communicating\":1,\"hidden\":6},{" +
                            worker +
                            ",\"computing\":7,\"waiting\":0,\"communicating\":1,\"hidden\":7}]}");
  EXPECT_THAT(timeline_summary(run()),
              AllOf(HasSubstr("2 workers, 10 steps"), HasSubstr("backward"), HasSubstr("81 %"),
                    HasSubstr("rank 1"), HasSubstr("train --timeline")));
  GatheredTimeline first;
  for (int step = 0; step < 5; ++step) {
    first.training.push_back({double(step), step + 0.1 * step, step, 0, Activity::kWait, 0});
  }
  first.lane.push_back({0, 100, 0, 0, Activity::kBucket, 0});
  write_trace(run().timeline(), {first, {}}, {two_workers(), {std::vector<std::string>{"head"}}});
  EXPECT_THAT(timeline_summary(run()),
              AllOf(HasSubstr("400.00 ms by rank 0 in step 5, wait 1: head"),
                    HasSubstr("300.00 ms"), HasSubstr("200.00 ms"), HasSubstr("Perfetto")));
  write("summary.json", "{\"workers\":2}");
  EXPECT_THROW(timeline_summary(run()), DataError);
}

}  // namespace
}  // namespace lockstep
