// The promise of stale-synchronous training, seen from a shard. Every push marks an element of its
// own, so that a read shows exactly which updates it holds: it must hold all of all workers up to
// clock c − s − 1 and all of the reader's own, nothing that was not pushed, and nothing twice.
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
constexpr std::int64_t kClocks = 12;

class Interleaving {
 public:
  Interleaving(int workers, std::int64_t bound)
      : workers_(workers),
        bound_(bound),
        rule_(make_rule("stale-synchronous", {{"bound", std::to_string(bound)}}, workers,
                        std::vector<float>(static_cast<std::size_t>(workers * kClocks)))),
        pushed_(static_cast<std::size_t>(workers)),
        waiting_(pushed_.size()) {}

  std::vector<int> ready() const {  // to push: neither waiting nor done
    std::vector<int> all;
    for (int worker = 0; worker < workers_; ++worker) {
      if (!waiting(worker) && pushed(worker) < kClocks) all.push_back(worker);
    }
    return all;
  }

  void push(int worker) {
    std::vector<float> mark(static_cast<std::size_t>(workers_ * kClocks));
    mark[place(worker, pushed(worker))] = 1;
    ServerHeader header{.kind = kPush, .worker = worker, .clock = pushed(worker)};
    header.set({.lr = static_cast<double>(workers_)});  // so that the mean counts 1 again
    ++pushed_[static_cast<std::size_t>(worker)];
    waiting_[static_cast<std::size_t>(worker)] = 1;
    for (const Reply& reply : rule_.send(header, mark)) {
      check_read(reply);
      waiting_[static_cast<std::size_t>(reply.worker)] = 0;
    }
    for (int other = 0; other < workers_; ++other) {  // and nobody waits without need
      EXPECT_EQ(waiting(other), pushed(other) - slowest() > bound_);
    }
  }

 private:
  std::int64_t pushed(int worker) const { return pushed_[static_cast<std::size_t>(worker)]; }
  bool waiting(int worker) const { return waiting_[static_cast<std::size_t>(worker)] != 0; }
  std::int64_t slowest() const { return *std::ranges::min_element(pushed_); }
  static std::size_t place(int worker, std::int64_t clock) {
    return static_cast<std::size_t>(worker * kClocks + clock);
  }

  void check_read(const Reply& reply) const {
    const std::int64_t clock = pushed(reply.worker);
    EXPECT_LE(clock - slowest(), bound_) << "an answer to a worker that is too far ahead";
    EXPECT_EQ(reply.header.staleness, clock - slowest());
    for (int worker = 0; worker < workers_; ++worker) {
      for (std::int64_t at = 0; at < kClocks; ++at) {
        const float value = -reply.values[place(worker, at)];
        const bool held = std::abs(value - 1) < 1e-5;
        EXPECT_TRUE(held || value == 0) << "held " << value << " times";
        if (at <= clock - bound_ - 1) {
          EXPECT_TRUE(held) << "the pre-window is not complete";
        }
        if (worker == reply.worker && at < clock) {
          EXPECT_TRUE(held) << "a worker does not read its own";
        }
        if (at >= pushed(worker)) {
          EXPECT_FALSE(held) << "nobody has pushed that";
        }
      }
    }
  }

  int workers_;
  std::int64_t bound_;
  RuleUnderTest rule_;
  std::vector<std::int64_t> pushed_;  // clocks, by worker
  std::vector<char> waiting_;         // by worker
};

TEST(StaleSynchronousRule, ReadsHoldWhatTheyMustAndMayHold) {
  for (const int workers : {1, 2, 3, 5}) {
    for (std::int64_t bound = 0; bound <= 4; ++bound) {
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(testing::Message() << workers << " workers, bound " << bound << ", " << seed);
        Interleaving run(workers, bound);
        Random random(seed, "interleaving");
        for (auto ready = run.ready(); !ready.empty(); ready = run.ready()) {
          // Now and then one runs ahead as far as it may.
          const int worker = ready[random.below(2) == 0 ? 0 : random.below(ready.size())];
          run.push(worker);
        }
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(StaleSynchronousRule, TheFastestStopsAtTheBound) {
  for (std::int64_t bound = 0; bound <= 4; ++bound) {
    Interleaving run(2, bound);
    std::int64_t steps = 0;
    for (; run.ready().front() == 0; ++steps) run.push(0);
    EXPECT_EQ(steps, bound + 1);  // the last of them has no answer yet
  }
}

// A worker that has not been seen yet may be asked for at any time: reads are never older than what
// the bound allows, and what is not complete shows as plain SGD.
TEST(StaleSynchronousRule, LiteralReads) {
  auto rule = make_rule("stale-synchronous", {{"bound", "1"}}, 2, {0});
  const auto push = [&](int worker, std::int64_t clock, float gradient) {
    ServerHeader header{.kind = kPush, .worker = worker, .clock = clock};
    header.set({.lr = 2});
    return rule.send(header, {gradient});
  };
  EXPECT_EQ(push(0, 0, 1).at(0).values, std::vector<float>{-1});  // η/M·g = 2/2·1
  EXPECT_TRUE(push(0, 1, 2).empty());                             // two ahead
  const auto both = push(1, 0, 4);
  ASSERT_EQ(both.size(), 2u);
  for (const Reply& reply : both) {
    EXPECT_EQ(reply.values, std::vector<float>{-7});
    EXPECT_EQ(reply.header.version, 1);
  }
  EXPECT_EQ(both[0].header.staleness, 1);
  EXPECT_EQ(both[1].header.staleness, 0);
}

TEST(StaleSynchronousRule, ItsStateIsAllItNeedsAfterAMeeting) {
  const Settings bound{{"bound", "1"}};
  auto rule = make_rule("stale-synchronous", bound, 2, {0, 5});
  auto other = make_rule("stale-synchronous", bound, 2, {0, 5});
  const auto push = [](RuleUnderTest& to, int worker, std::int64_t clock) {
    ServerHeader header{.kind = kPush, .worker = worker, .clock = clock};
    header.set({.lr = 0.1});
    return to.send(header, {0.3f, static_cast<float>(worker)});
  };
  for (const int worker : {1, 0}) push(rule, worker, 0);
  MemoryState state;
  rule.state(state);
  state.restore();
  other.state(state);
  for (std::int64_t clock = 1; clock < 4; ++clock) {
    for (const int worker : {0, 1}) {
      EXPECT_EQ(push(rule, worker, clock).at(0).values, push(other, worker, clock).at(0).values);
    }
  }
}

TEST(StaleSynchronousRule, WhatMakesNoSenseIsACommError) {
  auto rule = make_rule("stale-synchronous", {}, 2, {0});
  EXPECT_THROW(rule.send({.kind = kPush + 1}), CommError);
  EXPECT_THROW(rule.send({.kind = kPush, .clock = 1}, {1}), CommError);  // clock 0 is missing
  EXPECT_THROW(rule.send({.kind = kPush, .clock = 0}, {}), CommError);
  EXPECT_EQ(rule.send({.kind = kPull}).at(0).values, std::vector<float>{0});
}

}  // namespace
}  // namespace lockstep
