#include "lockstep/server/message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "lockstep/base/error.h"
#include "lockstep/transport/transport.h"

namespace lockstep {
namespace {

constexpr std::size_t kMost = 11;
const std::vector<float> kValues{1, -2.5f, 3e30f, 0};
const ServerHeader kSample{.kind = 7,
                           .worker = 3,
                           .clock = 1 << 30,
                           .version = -4,
                           .limit = 5,
                           .staleness = 6,
                           .rejected = 1,
                           .lr = 0.1,
                           .weight_decay = 1e-4,
                           .epoch = 2.5,
                           .held = 0.25};

// As it arrives in the memory of another.
std::size_t deliver(std::span<const std::byte> bytes, ServerMessage& into) {
  std::ranges::copy(bytes, into.room().begin());
  return bytes.size();
}

TEST(ServerMessage, IsReadAsItWasWritten) {
  for (std::size_t count = 0; count <= kMost; ++count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) - 2;
    ServerMessage sent(kMost), received(kMost);
    const ServerHeader& header = received.read(deliver(sent.write(kSample, values), received));
    EXPECT_EQ(header.kind, kSample.kind);
    EXPECT_EQ(header.worker, kSample.worker);
    EXPECT_EQ(header.clock, kSample.clock);
    EXPECT_EQ(header.version, kSample.version);
    EXPECT_EQ(header.limit, kSample.limit);
    EXPECT_EQ(header.staleness, kSample.staleness);
    EXPECT_EQ(header.rejected, kSample.rejected);
    EXPECT_EQ(header.rates().lr, kSample.lr);
    EXPECT_EQ(header.rates().weight_decay, kSample.weight_decay);
    EXPECT_EQ(header.rates().epoch, kSample.epoch);
    EXPECT_EQ(header.held, kSample.held);
    EXPECT_TRUE(std::ranges::equal(received.values(), values));
  }
}

TEST(ServerMessage, EveryTruncationIsACommError) {
  ServerMessage sent(kMost), received(kMost);
  const std::size_t whole = deliver(sent.write(kSample, kValues), received);
  for (std::size_t bytes = 0; bytes <= received.room().size(); ++bytes) {
    if (bytes == whole) continue;
    EXPECT_THROW(received.read(bytes), CommError) << bytes;
  }
  EXPECT_EQ(received.read(whole).values, kValues.size());
}

// Is it one of those bytes of a header that how long a message is depends on?
bool tells_the_length(std::size_t at) {
  const std::size_t form = offsetof(ServerHeader, form);
  return at >= offsetof(ServerHeader, values) || (at >= form && at < form + sizeof(Form));
}

// Whatever the header says, the values that are shown are those that have arrived.
TEST(ServerMessage, NoFlippedBitOfTheHeaderLeadsBeyondTheMessage) {
  ServerMessage sent(kMost);
  const auto bytes = sent.write(kSample, kValues);
  for (std::size_t at = 0; at < sizeof(ServerHeader); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      ServerMessage received(kMost);
      const std::size_t whole = deliver(bytes, received);
      received.room()[at] ^= std::byte{1} << bit;
      try {
        received.read(whole);
        EXPECT_TRUE(std::ranges::equal(received.values(), kValues)) << at << " " << bit;
      } catch (const CommError&) {
        EXPECT_TRUE(tells_the_length(at)) << at << " " << bit;
      }
    }
  }
}

TEST(ServerMessage, ValuesStartOnACacheLine) {
  ServerMessage sent(kMost), received(kMost);
  received.read(deliver(sent.write(kSample, kValues), received));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(received.values().data()) % 64, 0u);
}

TEST(ServerMessage, AShardThatFitsNoMessageIsRefusedBeforeMemoryIsTaken) {
  EXPECT_THROW(ServerMessage(kMessageLimit / sizeof(float)), ConfigError);
  EXPECT_THROW(ServerMessage(~std::size_t{0}), ConfigError);
}

}  // namespace
}  // namespace lockstep
