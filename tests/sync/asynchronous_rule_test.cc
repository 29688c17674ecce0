// What a shard does with asynchronous pushes, case by case. The learning rate is 1 and the
// gradients are small whole numbers, so that parameters can be written down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.h"
#include "lockstep/sync/served.h"
#include "tests/optim/memory_state.h"
#include "tests/server/rule_under_test.h"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint32_t kPull = ServedStrategy::kPull;
constexpr std::uint32_t kPush = ServedStrategy::kFirstKind;
constexpr std::uint32_t kClaim = kPush + 1;
constexpr std::uint32_t kClose = kPush + 2;
constexpr std::int64_t kNoTicket = -1;
constexpr std::int64_t kPlenty = 1000;

// The rate is not divided unless the settings say so.
RuleUnderTest asynchronous(int workers, const Settings& settings = {{"damping", "none"}}) {
  return make_rule("asynchronous", settings, workers, {0, 100});
}

Reply push(RuleUnderTest& rule, int worker, float gradient, std::int64_t limit = kPlenty) {
  ServerHeader header{.kind = kPush, .worker = worker, .limit = limit};
  header.set({.lr = 1});
  const auto replies = rule.send(header, {gradient, -gradient});
  EXPECT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies.at(0).worker, worker);
  return replies.at(0);
}

Reply ask(RuleUnderTest& rule, std::uint32_t kind, int worker, std::int64_t limit = kPlenty) {
  return rule.send({.kind = kind, .worker = worker, .limit = limit}).at(0);
}

TEST(AsynchronousRule, EveryPushIsAppliedAtOnce) {
  auto rule = asynchronous(2);
  EXPECT_THAT(push(rule, 0, 1).values, ElementsAre(-1, 101));
  EXPECT_THAT(push(rule, 1, 2).values, ElementsAre(-3, 103));
  EXPECT_THAT(push(rule, 1, 4).values, ElementsAre(-7, 107));
  EXPECT_THAT(ask(rule, kPull, 0).values, ElementsAre(-7, 107));
  EXPECT_EQ(ask(rule, kPull, 0).header.version, 3);
}

TEST(AsynchronousRule, StalenessCountsUpdatesSinceTheWorkerTookItsParameters) {
  auto rule = asynchronous(3);
  EXPECT_EQ(push(rule, 0, 1).header.staleness, 0);
  EXPECT_EQ(push(rule, 0, 1).header.staleness, 0);  // only its own came between
  EXPECT_EQ(push(rule, 1, 1).header.staleness, 2);
  EXPECT_EQ(push(rule, 0, 1).header.staleness, 1);
  EXPECT_EQ(push(rule, 2, 1).header.staleness, 4);
  ask(rule, kPull, 1);
  EXPECT_EQ(push(rule, 1, 1).header.staleness, 0);
  ask(rule, kClaim, 0);  // brings no parameters
  EXPECT_EQ(push(rule, 0, 1).header.staleness, 2);
}

TEST(AsynchronousRule, WhatIsTooOldIsRejectedAndCountsAsNoUpdate) {
  auto rule = asynchronous(3, {{"max_staleness", "1"}, {"damping", "none"}});
  push(rule, 0, 1);
  const Reply old = push(rule, 1, 2);
  EXPECT_EQ(old.header.staleness, 1);
  EXPECT_EQ(old.header.rejected, 0);
  const Reply too_old = push(rule, 2, 4);
  EXPECT_EQ(too_old.header.staleness, 2);
  EXPECT_EQ(too_old.header.rejected, 1);
  EXPECT_EQ(too_old.header.version, 2);
  EXPECT_THAT(too_old.values, ElementsAre(-3, 103));
  const Reply again = push(rule, 2, 4);  // it has new parameters now
  EXPECT_EQ(again.header.rejected, 0);
  EXPECT_THAT(again.values, ElementsAre(-7, 107));
}

TEST(AsynchronousRule, DampingDividesTheRate) {
  auto by_workers = asynchronous(4, {});  // the default
  EXPECT_THAT(push(by_workers, 0, 8).values, ElementsAre(-2, 102));
  auto by_staleness = asynchronous(4, {{"damping", "staleness"}});
  EXPECT_THAT(push(by_staleness, 0, 8).values, ElementsAre(-8, 108));
  EXPECT_THAT(push(by_staleness, 1, 8).values, ElementsAre(-12, 112));  // staleness 1
}

TEST(AsynchronousRule, TicketsAreHandedOutOnceAndUpToTheLimit) {
  auto rule = asynchronous(2);
  EXPECT_EQ(ask(rule, kClaim, 0, 3).header.clock, 0);
  EXPECT_EQ(ask(rule, kClaim, 1, 3).header.clock, 1);
  EXPECT_EQ(push(rule, 1, 1, 3).header.clock, 2);
  const Reply none = push(rule, 0, 1, 3);
  EXPECT_EQ(none.header.clock, kNoTicket);
  EXPECT_EQ(none.header.limit, 3);                            // handed out so far
  EXPECT_EQ(ask(rule, kPull, 0, 9).header.clock, kNoTicket);  // takes none
  EXPECT_EQ(ask(rule, kClaim, 0, 5).header.clock, 3);         // after the meeting
  EXPECT_THAT(ask(rule, kClaim, 0, 5).values, IsEmpty());
}

TEST(AsynchronousRule, ClosingHandsOutNoMoreTickets) {
  auto rule = asynchronous(2);
  ask(rule, kClaim, 0);
  EXPECT_EQ(ask(rule, kClose, 1).header.clock, kNoTicket);
  const Reply last = push(rule, 0, 1);  // is applied all the same
  EXPECT_EQ(last.header.clock, kNoTicket);
  EXPECT_EQ(last.header.limit, 1);
  EXPECT_EQ(last.header.version, 1);
}

TEST(AsynchronousRule, ItsStateIsAllItNeedsAfterAMeeting) {
  auto rule = asynchronous(2), other = asynchronous(2);
  MemoryState state;
  ask(rule, kClaim, 0);
  push(rule, 0, 1);
  push(rule, 1, 1);
  for (const int worker : {0, 1}) ask(rule, kPull, worker);
  rule.state(state);
  state.restore();
  other.state(state);
  for (const int worker : {1, 0, 0}) {
    const Reply one = push(rule, worker, 1), two = push(other, worker, 1);
    EXPECT_EQ(one.values, two.values);
    EXPECT_EQ(one.header.version, two.header.version);
    EXPECT_EQ(one.header.staleness, two.header.staleness);
    EXPECT_EQ(one.header.clock, two.header.clock);
  }
}

TEST(AsynchronousRule, WhatMakesNoSenseIsACommError) {
  auto rule = asynchronous(2);
  EXPECT_THROW(rule.send({.kind = kClose + 1}), CommError);
  EXPECT_THROW(rule.send({.kind = kLeave}), CommError);
  EXPECT_THROW(rule.send({.kind = kPush}, {1}), CommError);
}

}  // namespace
}  // namespace lockstep
