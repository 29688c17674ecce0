// The promise of stale-synchronous training, seen from a shard. Every push marks an element of its
// own, so that a read shows exactly which updates it holds: it must hold all of all workers up to
// clock c − s − 1 and all that the reader pushed, nothing that nobody pushed, and nothing twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lockstep/base/error.h"
#include "lockstep/base/random.h"
#include "lockstep/sync/served.h"
#include "tests/optim/memory_state.h"
#include "tests/server/rule_under_test.h"

namespace lockstep {
namespace {

constexpr std::uint32_t kPull = ServedStrategy::kPull;
constexpr std::uint32_t kPush = ServedStrategy::kFirstKind;
constexpr std::uint32_t kRead = kPush + 1;
constexpr std::uint32_t kClose = kPush + 2;
constexpr std::int64_t kClocks = 12;
constexpr std::int64_t kNone = -1;

Settings settings(std::int64_t bound, bool help) {
  return {{"bound", std::to_string(bound)}, {"help", help ? "true" : "false"}};
}

class Interleaving {
 public:
  Interleaving(int workers, std::int64_t bound, bool help)
      : workers_(workers),
        bound_(bound),
        help_(help),
        rule_(make_rule("stale-synchronous", settings(bound, help), workers,
                        std::vector<float>(static_cast<std::size_t>(workers * kClocks)))),
        pusher_(static_cast<std::size_t>(workers * kClocks), kNone),
        taken_(pusher_.size()),
        hands_(static_cast<std::size_t>(workers)) {
    for (int worker = 0; worker < workers; ++worker) give(worker, 0, worker);
  }

  // To push: neither waiting nor done.
  std::vector<int> ready() const {
    std::vector<int> all;
    for (int worker = 0; worker < workers_; ++worker) {
      if (hand(worker).state == Hand::kWorks) all.push_back(worker);
    }
    return all;
  }
  bool all_done() const { return complete() == kClocks; }
  std::int64_t clock_of(int worker) const { return hand(worker).clock; }
  int owner_of(int worker) const { return hand(worker).owner; }

  void push(int worker) {
    Hand& own = hand(worker);
    std::vector<float> mark(pusher_.size());
    mark[place(own.owner, own.clock)] = 1;
    pusher_[place(own.owner, own.clock)] = worker;
    own.state = Hand::kAsks;
    ServerHeader header{
        .kind = kPush, .worker = worker, .clock = own.clock, .owner = own.owner, .limit = kClocks};
    header.set({.lr = static_cast<double>(workers_)});  // so that the mean counts 1 again
    take(rule_.send(header, mark));
    for (int other = 0; other < workers_; ++other) check_waits_with_need(other);
  }

 private:
  struct Hand {
    enum State { kWorks, kAsks, kReads, kDone } state = kWorks;
    std::int64_t clock = 0;
    int owner = 0;
  };

  static std::size_t place(int owner, std::int64_t clock) {
    return static_cast<std::size_t>(owner * kClocks + clock);
  }
  Hand& hand(int worker) { return hands_[static_cast<std::size_t>(worker)]; }
  const Hand& hand(int worker) const { return hands_[static_cast<std::size_t>(worker)]; }
  bool pushed(int owner, std::int64_t clock) const { return pusher_[place(owner, clock)] != kNone; }
  std::int64_t complete() const {  // clocks
    for (std::int64_t clock = 0; clock < kClocks; ++clock) {
      for (int owner = 0; owner < workers_; ++owner) {
        if (!pushed(owner, clock)) return clock;
      }
    }
    return kClocks;
  }

  void give(int worker, std::int64_t clock, int owner) {
    EXPECT_EQ(taken_[place(owner, clock)]++, 0) << "given twice";
    hand(worker) = {Hand::kWorks, clock, owner};
  }

  void take(const std::vector<Reply>& replies) {
    std::vector<int> readers;
    for (const Reply& reply : replies) {
      if (reply.header.kind == kRead) {
        check_read(reply);
        hand(reply.worker).state = Hand::kWorks;
      } else if (reply.header.clock == kNone) {
        hand(reply.worker).state = Hand::kDone;
      } else {
        const auto owner = static_cast<int>(reply.header.owner);
        EXPECT_TRUE(help_ || owner == reply.worker);
        give(reply.worker, reply.header.clock, owner);
        hand(reply.worker).state = Hand::kReads;
        readers.push_back(reply.worker);
      }
    }
    for (const int reader : readers) {
      take(rule_.send({.kind = kRead, .worker = reader, .clock = hand(reader).clock}));
    }
  }

  void check_waits_with_need(int worker) const {
    EXPECT_NE(hand(worker).state, Hand::kReads) << "what is given may be begun";
    if (hand(worker).state != Hand::kAsks) return;
    for (int owner = 0; owner < workers_; ++owner) {
      if (!help_ && owner != worker) continue;
      for (std::int64_t clock = 0; clock < kClocks; ++clock) {
        const bool open = taken_[place(owner, clock)] == 0 && clock <= complete() + bound_;
        EXPECT_FALSE(open) << "worker " << worker << " waits beside " << owner << "'s " << clock;
      }
    }
  }

  void check_read(const Reply& reply) const {
    const std::int64_t clock = hand(reply.worker).clock;
    EXPECT_LE(clock - complete(), bound_) << "an answer to a worker that is too far ahead";
    EXPECT_EQ(reply.header.staleness, clock - complete());
    for (int owner = 0; owner < workers_; ++owner) {
      for (std::int64_t at = 0; at < kClocks; ++at) {
        const float value = -reply.values[place(owner, at)];
        const bool held = std::abs(value - 1) < 1e-5;
        EXPECT_TRUE(held || value == 0) << "held " << value << " times";
        if (at <= clock - bound_ - 1) {
          EXPECT_TRUE(held) << "the pre-window is not complete";
        }
        if (pusher_[place(owner, at)] == reply.worker) {
          EXPECT_TRUE(held) << "a worker does not read its own";
        }
        if (!pushed(owner, at)) {
          EXPECT_FALSE(held) << "nobody has pushed that";
        }
      }
    }
  }

  int workers_;
  std::int64_t bound_;
  bool help_;
  RuleUnderTest rule_;
  std::vector<std::int64_t> pusher_;  // by place: who pushed it
  std::vector<int> taken_;            // by place: how often it was given
  std::vector<Hand> hands_;           // by worker
};

TEST(StaleSynchronousRule, ReadsHoldWhatTheyMustAndMayHold) {
  for (const int workers : {1, 2, 3, 5}) {
    for (std::int64_t bound = 0; bound <= 4; ++bound) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const bool help = seed % 2 == 0;
        SCOPED_TRACE(testing::Message() << workers << " workers, bound " << bound << ", " << seed);
        Interleaving run(workers, bound, help);
        Random random(seed, "interleaving");
        for (auto ready = run.ready(); !ready.empty(); ready = run.ready()) {
          // Now and then one runs ahead as far as it may.
          const int worker = ready[random.below(2) == 0 ? 0 : random.below(ready.size())];
          run.push(worker);
          if (bound == 0) {  // nobody has to be helped where all wait for each other
            for (int other = 0; other < workers; ++other) EXPECT_EQ(run.owner_of(other), other);
          }
        }
        EXPECT_TRUE(run.all_done());
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(StaleSynchronousRule, WithoutHelpTheFastestStopsAtTheBound) {
  for (std::int64_t bound = 0; bound <= 4; ++bound) {
    Interleaving run(2, bound, false);
    std::int64_t steps = 0;
    for (; run.ready().front() == 0; ++steps) run.push(0);
    EXPECT_EQ(steps, bound + 1);  // the last of them has no answer yet
  }
}

// A worker that would wait takes the other's steps, but for the one the other is at.
TEST(StaleSynchronousRule, WithHelpItTakesWhatTheSlowestHasNotBegun) {
  Interleaving run(2, 2, true);
  for (int i = 0; i < 3; ++i) run.push(0);  // clocks 0, 1 and 2 of its own
  for (const std::int64_t clock : {1, 2}) {
    EXPECT_EQ(run.owner_of(0), 1);
    EXPECT_EQ(run.clock_of(0), clock);
    run.push(0);
  }
  EXPECT_EQ(run.ready(), std::vector<int>{1});  // which is still at clock 0
  run.push(1);
  EXPECT_EQ(run.clock_of(0), 3);
  EXPECT_EQ(run.clock_of(1), 3);
  EXPECT_EQ(run.owner_of(1), 1);
}

RuleUnderTest rule_with(std::int64_t bound, const std::vector<float>& params) {
  return make_rule("stale-synchronous", settings(bound, true), 2, params);
}

std::vector<Reply> push(RuleUnderTest& to, int worker, std::int64_t clock,
                        const std::vector<float>& gradient, double lr,
                        std::int64_t limit = kClocks) {
  ServerHeader header{
      .kind = kPush, .worker = worker, .clock = clock, .owner = worker, .limit = limit};
  header.set({.lr = lr});
  return to.send(header, gradient);
}

TEST(StaleSynchronousRule, LiteralReads) {
  auto rule = rule_with(1, {0});
  const auto read = [&](int worker, std::int64_t clock) {
    return rule.send({.kind = kRead, .worker = worker, .clock = clock});
  };
  EXPECT_EQ(push(rule, 0, 0, {1}, 2).at(0).header.clock, 1);
  EXPECT_EQ(read(0, 1).at(0).values, std::vector<float>{-1});  // η/M·g = 2/2·1
  const auto helped = push(rule, 0, 1, {2}, 2).at(0);          // two ahead
  EXPECT_EQ(helped.header.clock, 1);
  EXPECT_EQ(helped.header.owner, 1);
  EXPECT_TRUE(read(0, 2).empty());  // clock 0 is not complete
  const auto both = push(rule, 1, 0, {4}, 2);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].header.clock, 2);  // its clock 1 has been taken
  EXPECT_EQ(both[1].values, std::vector<float>{-7});
  EXPECT_EQ(both[1].header.version, 1);
  EXPECT_EQ(both[1].header.staleness, 1);
}

TEST(StaleSynchronousRule, AfterTheLastStepOfAStretchEverybodyIsSentToTheMeeting) {
  auto rule = rule_with(1, {0});
  EXPECT_EQ(push(rule, 0, 0, {1}, 1, 1).at(0).header.clock, kNone);
  EXPECT_EQ(push(rule, 1, 0, {1}, 1, 1).at(0).header.clock, kNone);
  // The next stretch begins with everybody's own.
  EXPECT_EQ(push(rule, 1, 1, {1}, 1, 3).at(0).header.clock, 2);
  EXPECT_EQ(push(rule, 0, 1, {1}, 1, 3).at(0).header.clock, 2);
}

TEST(StaleSynchronousRule, OnceClosedAllFinishWhatTheFastestHasBegun) {
  auto rule = rule_with(3, {0});
  EXPECT_EQ(push(rule, 0, 0, {1}, 1).at(0).header.clock, 1);
  EXPECT_EQ(push(rule, 0, 1, {1}, 1).at(0).header.clock, 2);
  EXPECT_EQ(rule.send({.kind = kClose, .worker = 1}).at(0).header.kind, kClose);
  const auto more = push(rule, 1, 0, {1}, 1).at(0);
  EXPECT_EQ(more.header.clock, 1);
  EXPECT_EQ(more.header.limit, 3);
  EXPECT_EQ(push(rule, 1, 1, {1}, 1).at(0).header.clock, 2);
  EXPECT_EQ(push(rule, 1, 2, {1}, 1).at(0).header.clock, kNone);
  EXPECT_EQ(push(rule, 0, 2, {1}, 1).at(0).header.clock, kNone);
  EXPECT_EQ(rule.send({.kind = kPull}).at(0).header.version, 3);
}

TEST(StaleSynchronousRule, ItsStateIsAllItNeedsAfterAMeeting) {
  auto rule = rule_with(1, {0, 5});
  auto other = rule_with(1, {0, 5});
  const auto step = [](RuleUnderTest& to, int worker, std::int64_t clock, std::int64_t limit) {
    push(to, worker, clock, {0.3f, static_cast<float>(worker)}, 0.1, limit);
    return to.send({.kind = kRead, .worker = worker, .clock = clock}).at(0).values;
  };
  for (const int worker : {1, 0}) step(rule, worker, 0, 1);
  MemoryState state;
  rule.state(state);
  state.restore();
  other.state(state);
  for (std::int64_t clock = 1; clock < 4; ++clock) {
    for (const int worker : {0, 1}) {
      EXPECT_EQ(step(rule, worker, clock, 4), step(other, worker, clock, 4));
    }
  }
}

TEST(StaleSynchronousRule, WhatMakesNoSenseIsACommError) {
  auto rule = rule_with(4, {0});
  EXPECT_THROW(rule.send({.kind = kClose + 1}), CommError);
  EXPECT_THROW(rule.send({.kind = kPush, .clock = 5}, {1}), CommError);  // clock 0 is missing
  EXPECT_THROW(rule.send({.kind = kPush, .clock = -1}, {1}), CommError);
  EXPECT_THROW(rule.send({.kind = kPush, .clock = 0}, {}), CommError);
  EXPECT_THROW(rule.send({.kind = kPush, .clock = 0, .owner = 2}, {1}), CommError);
  EXPECT_EQ(rule.send({.kind = kPush, .clock = 0}, {1}).size(), 1u);
  EXPECT_THROW(rule.send({.kind = kPush, .clock = 0}, {1}), CommError);  // it has that already
  EXPECT_EQ(rule.send({.kind = kPull}).at(0).header.version, 0);
}

}  // namespace
}  // namespace lockstep
