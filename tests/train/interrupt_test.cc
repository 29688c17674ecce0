#include "lockstep/train/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/base/error.h"
#include "lockstep/collective/collectives.h"
#include "tests/world_under_test.h"

namespace lockstep {
namespace {

int handled = 0;
void count(int) {
  ++handled;
}

// How a process ends that does `body` under the handlers a program has at first.
template <typename Body>
int status_of(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
    body();
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Interrupt, ASignalOnlyLeavesANote) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const InterruptWatch watch;
    EXPECT_EQ(interrupt_signal(), 0);
    raise(signal);
    EXPECT_EQ(interrupt_signal(), signal);
  }
}

TEST(Interrupt, TheHandlersOfBeforeComeBack) {
  const auto old = ::signal(SIGTERM, count);
  { const InterruptWatch watch; }
  handled = 0;
  raise(SIGTERM);
  EXPECT_EQ(handled, 1);
  ::signal(SIGTERM, old);
}

TEST(Interrupt, ASecondSigintEndsAtOnce) {
  const int status = status_of([] {
    const InterruptWatch watch;
    raise(SIGINT);
    raise(SIGINT);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(Interrupt, RepeatedSigtermIsPatient) {
  const int status = status_of([] {
    const InterruptWatch watch;
    for (int i = 0; i < 3; ++i) raise(SIGTERM);
    _exit(interrupt_signal() == SIGTERM ? 0 : 1);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, WhatWasIgnoredStaysIgnored) {
  const int status = status_of([] {
    ::signal(SIGINT, SIG_IGN);
    const InterruptWatch watch;
    raise(SIGINT);
    raise(SIGINT);
    _exit(interrupt_signal());
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, TwoWatchesAtOnceAreABug) {
  const InterruptWatch watch;
  EXPECT_THROW(InterruptWatch(), InternalError);
}

// One rank gets the signal in the middle of its step, wherever the others are in theirs.
TEST(Interrupt, AllRanksStopAfterTheSameStep) {
  const auto world = world_under_test();
  for (const int ranks : ranks_under_test({1, 2, 4})) {
    const InterruptWatch watch;
    world->run(ranks, [&](Transport& transport) {
      Group group(transport);
      int steps = 0;
      do {
        ++steps;
        if (steps == 5 && transport.rank() == ranks - 1) raise(SIGINT);
      } while (!anybody_interrupted(group));
      float sum = static_cast<float>(steps);
      reduce(group, {&sum, 1}, ReduceOp::kSum, 0);
      if (transport.rank() == 0) {
        EXPECT_EQ(sum, static_cast<float>(steps * ranks));
      }
      EXPECT_LE(steps, 5);
    });
  }
}

}  // namespace
}  // namespace lockstep
