#include "lockstep/transport/counting.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/world_under_test.h"

namespace lockstep {
namespace {

TEST(Counting, CountsWhatIsSentAndTheStepsOfAnOperation) {
  world_under_test()->run(2, [](Transport& transport) {
    CountingTransport counting(transport);
    std::vector<std::byte> buffer(100);
    const auto talk = [&](std::size_t bytes) {
      if (counting.rank() == 0) {
        Request request = counting.isend(1, 1, std::span(buffer).first(bytes));
        counting.wait(request);
      } else {
        Request request = counting.irecv(0, 1, buffer);
        counting.wait(request);
      }
    };
    {
      const Operation operation(counting, "talk");
      counting.step("first", 0, 2);
      talk(100);
      counting.step("first", 1, 2);
      talk(7);
      counting.step("first", 0, 2);  // the next piece of the same step
      talk(5);
    }
    EXPECT_EQ(counting.counts().rounds, 2u);
    EXPECT_EQ(counting.counts().messages, counting.rank() == 0 ? 3u : 0u);
    EXPECT_EQ(counting.counts().bytes, counting.rank() == 0 ? 112u : 0u);
    counting.reset();
    EXPECT_EQ(counting.counts().bytes, 0u);
  });
}

TEST(Counting, MessagesOnlyHidesSharedMemory) {
  world_under_test()->run(2, [](Transport& transport) {
    MessagesOnly messages(transport);
    const std::vector<int> both{0, 1};
    EXPECT_EQ(messages.shared_space(both), nullptr);
  });
}

}  // namespace
}  // namespace lockstep
