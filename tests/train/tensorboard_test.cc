// Event files are read here by a reader of its own, with a bitwise checksum, that follows
// TensorFlow's record_writer.h and event.proto.
#include "lockstep/train/tensorboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/base/file.h"
#include "lockstep/train/crc32c.h"
#include "tests/train/run_folder.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::Pair;

using TensorBoard = FolderTest;

std::uint32_t bitwise_crc32c(const std::string& bytes) {
  std::uint32_t rest = 0xFFFFFFFF;
  for (const char c : bytes) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool in = ((static_cast<unsigned char>(c) >> bit) & 1) != (rest & 1);
      rest = (rest >> 1) ^ (in ? 0x82F63B78u : 0u);
    }
  }
  return rest ^ 0xFFFFFFFF;
}

struct Cursor {
  std::string bytes;
  std::size_t at = 0;

  bool done() const { return at == bytes.size(); }
  std::string take(std::size_t n) {
    if (n > bytes.size() - at) throw std::runtime_error("cut off");
    at += n;
    return bytes.substr(at - n, n);
  }
  template <typename T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
  }
};

void check_crc(const std::string& bytes, std::uint32_t masked) {
  const std::uint32_t turned = masked - 0xA282EAD8u;
  EXPECT_EQ((turned >> 17) | (turned << 15), bitwise_crc32c(bytes));
}

struct Event {
  double wall_time = -1;
  std::int64_t step = 0;
  std::string version;
  std::vector<std::pair<std::string, float>> scalars;
  bool session_start = false;
};

std::pair<std::string, float> read_value(Cursor value) {
  std::pair<std::string, float> scalar;
  while (!value.done()) {
    switch (value.varint()) {
      case 1 << 3 | 2:
        scalar.first = value.take(value.varint());
        break;
      case 2 << 3 | 5:
        scalar.second = value.number<float>();
        break;
      default:
        ADD_FAILURE() << "a field that is not in event.proto";
    }
  }
  return scalar;
}

Event read_event(Cursor event) {
  Event read;
  while (!event.done()) {
    switch (event.varint()) {
      case 1 << 3 | 1:
        read.wall_time = event.number<double>();
        break;
      case 2 << 3 | 0:
        read.step = static_cast<std::int64_t>(event.varint());
        break;
      case 3 << 3 | 2:
        read.version = event.take(event.varint());
        break;
      case 5 << 3 | 2: {
        Cursor summary{event.take(event.varint())};
        while (!summary.done()) {
          EXPECT_EQ(summary.varint(), 1u << 3 | 2);
          read.scalars.push_back(read_value({summary.take(summary.varint())}));
        }
        break;
      }
      case 7 << 3 | 2:
        read.session_start = event.take(event.varint()) == "\x08\x01";
        break;
      default:
        ADD_FAILURE() << "a field that is not in event.proto";
    }
  }
  return read;
}

std::vector<Event> read_events(const std::string& path) {
  Cursor file{read_text_file(path, 1'000'000)};
  std::vector<Event> events;
  while (!file.done()) {
    const std::string length = file.take(8);
    check_crc(length, file.number<std::uint32_t>());
    const std::string event = file.take(Cursor{length}.number<std::uint64_t>());
    check_crc(event, file.number<std::uint32_t>());
    events.push_back(read_event({event}));
  }
  return events;
}

TEST(Crc32c, GivesTheChecksumsOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAu);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62A8AB43u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST_F(TensorBoard, AReaderFindsEveryScalar) {
  EventWriter writer(path(""), 1700000000.25);
  writer.write(1, 1700000001.5, {{"train/loss", 2.5}, {"train/accuracy", 0.125}});
  EXPECT_EQ(read_events(writer.path()).size(), 2u) << "each event is there at once";
  writer.write(std::int64_t{1} << 40, 1700000002, {{"größe", -1e10}});
  const auto events = read_events(writer.path());
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_EQ(events[0].wall_time, 1700000000.25);
  EXPECT_EQ(events[1].step, 1);
  EXPECT_EQ(events[1].wall_time, 1700000001.5);
  EXPECT_THAT(events[1].scalars,
              ElementsAre(Pair("train/loss", 2.5f), Pair("train/accuracy", 0.125f)));
  EXPECT_EQ(events[2].step, std::int64_t{1} << 40);
  EXPECT_THAT(events[2].scalars, ElementsAre(Pair("größe", -1e10f)));
  EXPECT_NE(writer.path().find("/events.out.tfevents.1700000000."), std::string::npos);
}

// The first bytes of every event file that TensorFlow writes, and one scalar byte for byte.
TEST_F(TensorBoard, WritesTheBytesThatTensorFlowWrites) {
  EventWriter writer(path(""), 1.0);
  writer.write(3, 2.0, {{"a", 0.5}});
  const std::string bytes = read_text_file(writer.path(), 1000);
  const auto literal = [](auto& text) { return std::string(text, sizeof text - 1); };
  EXPECT_EQ(bytes.substr(0, 12), literal("\x18\0\0\0\0\0\0\0\xa3\x7fK\""));
  EXPECT_EQ(bytes.substr(12, 24), literal("\x09\0\0\0\0\0\0\xf0\x3f\x1a\x0d"
                                          "brain.Event:2"));
  EXPECT_EQ(bytes.substr(40 + 12, 23), literal("\x09\0\0\0\0\0\0\0\x40\x10\x03\x2a\x0a\x0a\x08"
                                               "\x0a\x01"
                                               "a\x15\0\0\0\x3f"));
  EXPECT_EQ(bytes.size(), 40u + 12 + 23 + 4);
}

TEST_F(TensorBoard, ARunThatGoesOnOverridesTheLaterSteps) {
  const std::string first = EventWriter(path(""), 1700000000).path();
  const EventWriter second(path(""), 1700000000, 41);  // within the same second
  const EventWriter third(path(""), 5, 41);            // on another clock
  EXPECT_LT(first, second.path());
  EXPECT_LT(second.path(), third.path()) << "TensorBoard reads them in this order";
  const auto events = read_events(second.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_TRUE(events[1].session_start);
  EXPECT_EQ(events[1].step, 42);
  for (const auto& event : read_events(first)) EXPECT_FALSE(event.session_start);
}

TEST_F(TensorBoard, NamesTheFileItCannotWrite) {
  EXPECT_THAT([&] { EventWriter(path("none"), 1); },
              testing::ThrowsMessage<DataError>(testing::HasSubstr("none/events.out")));
}

}  // namespace
}  // namespace lockstep
