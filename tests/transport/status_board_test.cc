#include "lockstep/transport/status_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "lockstep/base/aligned.h"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Board {
  explicit Board(int ranks) : memory(StatusBoard::bytes(ranks)), board(memory.data(), ranks) {
    for (int r = 0; r < ranks; ++r) board.line(r).start(100);
  }
  AlignedVector<std::byte> memory;
  StatusBoard board;
};

TEST(StatusBoard, RanksInTheSameStateShareALine) {
  Board b(6);
  for (const int r : {0, 1, 2, 5}) b.board.line(r).wait(4, "receive", 100);
  EXPECT_EQ(b.board.report(103.5),
            "\n  ranks 0-2, 5: waiting 3.5 s for rank 4 (receive); nothing completed yet"
            "\n  ranks 3-4: not waiting for anybody; nothing completed yet");
}

TEST(StatusBoard, ALineFollowsItsRank) {
  Board b(1);
  auto& line = b.board.line(0);
  line.begin("all-reduce ring");
  line.step("share-reduce", 1, 3);
  EXPECT_THAT(b.board.report(100), HasSubstr("in all-reduce ring, share-reduce step 2 of 3"));
  line.end(101);
  EXPECT_THAT(
      b.board.report(104),
      HasSubstr("not waiting for anybody; last completed: all-reduce ring (number 1), 3.0 s ago"));
  line.wait(-1, "receive", 105);
  EXPECT_THAT(b.board.report(106), HasSubstr("waiting 1.0 s for anybody"));
  line.alive(105.5);
  EXPECT_THAT(b.board.report(106), Not(HasSubstr("not heard of")));
  EXPECT_THAT(b.board.report(109.5), HasSubstr("not heard of for 4.0 s: stopped or starved"));
  line.resume();
  line.die("out of memory");
  EXPECT_THAT(b.board.report(107), HasSubstr("died: out of memory"));
}

TEST(StatusBoard, LongTextsAreCutNotOverrun) {
  Board b(1);
  const std::string endless(5000, 'x');
  b.board.line(0).begin(endless.c_str());
  b.board.line(0).die(endless.c_str());
  EXPECT_LT(b.board.report(100).size(), 400u);
  b.board.fail(std::string(100'000, 'y'));
  EXPECT_LT(b.board.reason().size(), 10'000u);
}

TEST(StatusBoard, WhatAnotherHostSaidIsBroughtToThisClockAndCut) {
  StatusLine::Snapshot theirs;
  theirs.used = theirs.waiting = true;
  theirs.since = 5000;
  theirs.alive = 5002;
  theirs.ended = 4000;
  std::memset(theirs.what, 'x', sizeof theirs.what);
  const auto ours = theirs.received(-4900);
  EXPECT_EQ(ours.since, 100);
  EXPECT_EQ(ours.alive, 102);
  EXPECT_EQ(ours.ended, -900);
  EXPECT_EQ(std::strlen(ours.what), sizeof ours.what - 1);
  theirs.alive = 0;
  EXPECT_EQ(theirs.received(-4900).alive, 0);  // still: not noted
}

TEST(StatusBoard, TheFirstFailureStays) {
  Board b(2);
  EXPECT_FALSE(b.board.failed());
  EXPECT_TRUE(b.board.fail("first"));
  EXPECT_FALSE(b.board.fail("second"));
  EXPECT_EQ(b.board.reason(), "first");
}

TEST(StatusBoard, CompanionsHaveLinesOfTheirOwn) {
  Board b(1);
  b.board.line(0, 1).start(100);
  b.board.line(0, 1).wait(-1, "receive", 100);
  EXPECT_THAT(b.board.report(101), HasSubstr("companion 1: waiting"));
}

TEST(StatusBoard, AManyRankedReportStaysReadable) {
  Board b(1000);
  for (int r = 0; r < 1000; ++r) b.board.line(r).wait((r + 1) % 1000, "receive", 100);
  const std::string report = b.board.report(101);
  EXPECT_THAT(report, HasSubstr("more states"));
  EXPECT_LT(report.size(), 8000u);
}

}  // namespace
}  // namespace lockstep
